// SPDX-License-Identifier: Apache-2.0
#include "sim/words/own_module.hpp"

#include <link.h>

#include <algorithm>

namespace ferry::sim {

namespace {

const char kInside = 0;  // an address in the module

int look_at(dl_phdr_info* info, std::size_t, void* out) {
  OwnModule module;
  module.start = UINTPTR_MAX;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const std::uintptr_t start = info->dlpi_addr + header.p_vaddr;
    module.start = std::min(module.start, start);
    module.end = std::max(module.end, start + header.p_memsz);
  }
  if (!module.contains(&kInside)) return 0;
  // The loader knows the program itself by no name.
  module.is_library = info->dlpi_name != nullptr && *info->dlpi_name != '\0';
  *static_cast<OwnModule*>(out) = module;
  return 1;
}

OwnModule find_own_module() {
  OwnModule module;
  dl_iterate_phdr(look_at, &module);
  return module;
}

}  // namespace

const OwnModule& own_module() {
  static const OwnModule module = find_own_module();
  return module;
}

}  // namespace ferry::sim
