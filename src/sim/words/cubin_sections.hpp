// SPDX-License-Identifier: Apache-2.0
// What a cubin's sections of the types of its maker are. A linked cubin says SHT_NOBITS of memory
// that begins as zeros; one that is still to be linked (nvcc -rdc=true) has types of its own.
#pragma once

#include <elf.h>

#include <cstdint>

namespace ferry::sim {

// Of memory that has a size and no bytes in the file.
[[nodiscard]] constexpr bool is_without_bytes(std::uint32_t section_type) {
  constexpr std::uint32_t kGlobal = SHT_LOPROC + 0x7;
  constexpr std::uint32_t kLocal = SHT_LOPROC + 0x9;
  constexpr std::uint32_t kShared = SHT_LOPROC + 0xa;
  constexpr std::uint32_t kReservedShared = SHT_LOPROC + 0x15;
  return section_type == SHT_NOBITS || section_type == kGlobal || section_type == kLocal ||
         section_type == kShared || section_type == kReservedShared;
}

[[nodiscard]] constexpr bool is_of_its_maker(std::uint32_t section_type) {
  return section_type >= SHT_LOPROC && section_type <= SHT_HIPROC;
}

}  // namespace ferry::sim
