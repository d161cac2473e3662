// SPDX-License-Identifier: Apache-2.0
// The options of loading by which a compiler answers. None runs here: its logs are empty, save for
// what is wrong with a text, and it took no time. A pure function.
#pragma once

#include <string_view>

#include "sim/words/cuda_api.hpp"

namespace ferry::sim {

// As a program gives them.
struct JitOptions {
  unsigned count = 0;
  const CUjit_option* options = nullptr;
  void** values = nullptr;
};

// Writes the answers as cuda.h has them: logs end with a zero, the options of their sizes become
// the number of bytes written, the wall time is none. Other options stay as they are. False where
// there is no list of so many options. A log that has no room for all of it is cut off.
[[nodiscard]] bool answer_jit_options(const JitOptions& asked, std::string_view errors = {});

}  // namespace ferry::sim
