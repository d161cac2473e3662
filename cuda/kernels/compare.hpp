// SPDX-License-Identifier: Apache-2.0
// Adds to `differences` how many words differ.
#pragma once

#include "cuda/kernels/body.hpp"

namespace ferry::kernels {

struct Compare {
  const std::uint32_t* one = nullptr;
  const std::uint32_t* other = nullptr;
  unsigned long long* differences = nullptr;
  std::uint64_t count = 0;

  FERRY_HD std::uint64_t size() const { return count; }
  FERRY_HD void operator()(std::uint64_t i) const {
    if (one[i] == other[i]) return;
#ifdef __CUDA_ARCH__
    atomicAdd(differences, 1ULL);
#else
    ++*differences;
#endif
  }
  template <typename See>
  void visit(See&& see) {
    see(one, count * sizeof *one, Access::read);
    see(other, count * sizeof *other, Access::read);
    see(differences, sizeof *differences, Access::write);
  }
};

}  // namespace ferry::kernels
