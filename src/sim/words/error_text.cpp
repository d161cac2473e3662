// SPDX-License-Identifier: Apache-2.0
#include "sim/words/error_text.hpp"

namespace ferry::sim {

namespace {

constexpr ErrorText kTexts[] = {
#define FERRY_CUDA_ERROR(result, name, phrase) {result, #name, phrase},
#include "abi/cuda_errors.inc"
};

}  // namespace

const ErrorText* error_text(int result) {
  for (const ErrorText& text : kTexts) {
    if (text.result == result) return &text;
  }
  return nullptr;
}

bool is_result(int result) {
  return error_text(result) != nullptr;
}

std::optional<int> result_by_name(std::string_view name) {
  for (const ErrorText& text : kTexts) {
    if (name == text.name) return text.result;
  }
  return std::nullopt;
}

}  // namespace ferry::sim
