// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/mapped_range.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace ferry::sim {

bool is_mapped(std::uint64_t address, std::uint64_t bytes) {
  static const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t start = address / page * page;
  // Linux does nothing else here than to look for holes.
  return msync(reinterpret_cast<void*>(start), address + bytes - start, MS_ASYNC) == 0 ||
         errno != ENOMEM;
}

}  // namespace ferry::sim
