// SPDX-License-Identifier: Apache-2.0
// Writes one value to every word.
#pragma once

#include "cuda/kernels/body.hpp"

namespace ferry::kernels {

struct Fill {
  std::uint32_t* to = nullptr;
  std::uint64_t count = 0;
  std::uint32_t value = 0;

  FERRY_HD std::uint64_t size() const { return count; }
  FERRY_HD void operator()(std::uint64_t i) const { to[i] = value; }
  template <typename See>
  void visit(See&& see) {
    see(to, count * sizeof *to, Access::write);
  }
};

}  // namespace ferry::kernels
