// SPDX-License-Identifier: Apache-2.0
// Keeps the device busy for a time. On the stand-in the time passes on the virtual clock.
#pragma once

#include "cuda/kernels/body.hpp"

namespace ferry::kernels {

struct Spin {
  std::uint64_t nanoseconds = 0;

  FERRY_HD std::uint64_t size() const { return 1; }
  FERRY_HD void operator()(std::uint64_t) const {
#ifdef __CUDA_ARCH__
    const auto now = [] {
      std::uint64_t time;
      asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
      return time;
    };
    for (const std::uint64_t begin = now(); now() - begin < nanoseconds;) {
    }
#endif
  }
  template <typename See>
  void visit(See&&) {}
};

}  // namespace ferry::kernels
