// SPDX-License-Identifier: Apache-2.0
// The functions of the runtime that the stand-in does not have: each exists, so that programs that
// are linked with libcudart start, answers cudaErrorNotSupported, and says so once on stderr. Which
// they are the linker works out: everything in src/abi/runtime_names.txt is there as a weak
// function, and gives way to one that is written here (runtime_stubs.cmake). Stateless but for what
// was said; may be called at any time.
#pragma once

#include "sim/runtime/runtime_call.hpp"

namespace ferry::sim::runtime {

// `said` belongs to the function.
[[nodiscard]] cudaError_t refuse(const char* function, bool& said);

}  // namespace ferry::sim::runtime
