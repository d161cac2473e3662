// SPDX-License-Identifier: Apache-2.0
#include "sim/runtime/stubs.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>

#include "sim/runtime/runtime_call.hpp"

namespace ferry::sim::runtime {

cudaError_t refuse(const char* function, bool& said) {
  if (!std::atomic_ref(said).exchange(true, std::memory_order_relaxed))
    fmt::print(stderr, "ferry-sim: {} is not supported by the stand-in\n", function);
  return done(cudaErrorNotSupported);
}

}  // namespace ferry::sim::runtime

// Declared without parameters, under C++ names of their own: the headers have declared the real
// ones. None of them looks at what it is given.
#define FERRY_RUNTIME_STUB(name)                          \
  extern "C" __attribute__((weak, visibility("default"))) \
  cudaError_t ferry_runtime_stub_##name() __asm__(#name); \
  cudaError_t ferry_runtime_stub_##name() {               \
    static bool said = false;                             \
    return ferry::sim::runtime::refuse(#name, said);      \
  }
#include "sim/runtime/stub_rows.inc"
#undef FERRY_RUNTIME_STUB
