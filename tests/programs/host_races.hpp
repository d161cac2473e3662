// SPDX-License-Identifier: Apache-2.0
// Programs whose own code uses memory that queued work uses too, in the right order and in a wrong
// one. Their bytes come out right where work runs at once, so that only ThreadSanitizer can tell.
#pragma once

#include <thread>

#include "programs/program.hpp"

namespace ferry::programs {

[[nodiscard]] std::span<const Program> ordered_with_the_host();
[[nodiscard]] std::span<const Program> racing_with_the_host();

// Runs code as another thread does, which has the caller's context.
template <typename Code>
class OtherThread {
 public:
  explicit OtherThread(Code code)
      : thread_([code, context = current_context()] {
          FERRY_MUST(cuCtxSetCurrent(context));
          code();
        }) {}
  void join() { thread_.join(); }

 private:
  static CUcontext current_context() {
    CUcontext context = nullptr;
    FERRY_MUST(cuCtxGetCurrent(&context));
    return context;
  }
  std::thread thread_;
};

// Brings 1s from the device into the memory, some time.
inline void fetch_ones(unsigned char* to, CUstream stream) {
  const CUdeviceptr device = device_memory();
  FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, stream));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, stream));
}

}  // namespace ferry::programs
