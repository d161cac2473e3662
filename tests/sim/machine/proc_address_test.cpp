// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/proc_address.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "sim/words/symbols.hpp"

namespace ferry::sim {
namespace {

TEST(ProcAddress, EveryRowIsReachableAtItsVersion) {
  for (const SymbolRow& row : kSymbols) {
    const ProcAddress found = proc_address(row.name, row.version, false);
    EXPECT_EQ(found.status, CU_GET_PROC_ADDRESS_SUCCESS) << row.elf_name;
    EXPECT_NE(found.function, nullptr) << row.elf_name;
  }
}

TEST(ProcAddress, TheNewestVariantUpToTheVersionWins) {
  EXPECT_EQ(proc_address("cuCtxCreate", 3020, false).function,
            reinterpret_cast<void*>(&cuCtxCreate_v2));
  EXPECT_EQ(proc_address("cuCtxCreate", 12040, false).function,
            reinterpret_cast<void*>(&cuCtxCreate_v2));
  EXPECT_EQ(proc_address("cuCtxCreate", 12050, false).function,
            reinterpret_cast<void*>(&cuCtxCreate_v4));
  EXPECT_EQ(proc_address("cuCtxCreate", 13000, false).function,
            reinterpret_cast<void*>(&cuCtxCreate_v4));
  EXPECT_EQ(proc_address("cuMemAlloc", 13000, false).function,
            reinterpret_cast<void*>(&cuMemAlloc_v2));
}

TEST(ProcAddress, TellsWhyNothingIsFound) {
  EXPECT_EQ(proc_address("cuNothing", 13000, false).status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(proc_address("cuMemAlloc_v2", 13000, false).status,
            CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND)
      << "base names only";
  const ProcAddress too_old = proc_address("cuMemCreate", 10010, false);
  EXPECT_EQ(too_old.status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(too_old.function, nullptr);
}

TEST(ProcAddress, PerThreadNeverGetsALegacyVariant) {
  EXPECT_EQ(proc_address("cuMemcpyAsync", 13000, true).function, nullptr);
  EXPECT_EQ(proc_address("cuMemcpyAsync", 13000, true).status,
            CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(proc_address("cuMemCreate", 13000, true).function,
            reinterpret_cast<void*>(&cuMemCreate));
}

// The list of functions with per-thread variants, against the header that spells them all out.
TEST(ProcAddress, PerThreadVariantsAreThoseOfTheHeader) {
  std::ifstream header(FERRY_CUDA_HEADERS "/cudaTypedefs.h");
  ASSERT_TRUE(header) << FERRY_CUDA_HEADERS "/cudaTypedefs.h";
  const std::string text((std::istreambuf_iterator<char>(header)),
                         std::istreambuf_iterator<char>());
  const auto header_has = [&](std::string_view name) {
    const std::string start = "*PFN_" + std::string(name) + "_v";
    for (std::size_t at = text.find(start); at != std::string::npos;
         at = text.find(start, at + 1)) {
      const std::string spelled = text.substr(at, text.find(')', at) - at);
      if (spelled.ends_with("_ptsz") || spelled.ends_with("_ptds")) return true;
    }
    return false;
  };
  for (const SymbolRow& row : kSymbols)
    EXPECT_EQ(has_per_thread_variant(row.name), header_has(row.name)) << row.name;
}

}  // namespace
}  // namespace ferry::sim
