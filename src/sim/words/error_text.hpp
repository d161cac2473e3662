// SPDX-License-Identifier: Apache-2.0
// The names of CUresult values and a phrase for each, as cuGetErrorName and cuGetErrorString give
// them.
#pragma once

#include <optional>
#include <string_view>

namespace ferry::sim {

struct ErrorText {
  int result = 0;
  const char* name = "";
  const char* phrase = "";
};

// Null when cuda.h knows no such result.
[[nodiscard]] const ErrorText* error_text(int result);

[[nodiscard]] bool is_result(int result);

// "CUDA_ERROR_OUT_OF_MEMORY" to 2.
[[nodiscard]] std::optional<int> result_by_name(std::string_view name);

}  // namespace ferry::sim
