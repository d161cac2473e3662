// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/proc_address.hpp"

#include <gtest/gtest.h>

#include <string>

#include "sim/words/symbols.hpp"

namespace ferry::sim {
namespace {

TEST(ProcAddress, EveryRowIsReachableAtItsVersion) {
  for (const SymbolRow& row : kSymbols) {
    const ProcAddress found = proc_address(row.name, row.version, row.per_thread);
    EXPECT_EQ(found.status, CU_GET_PROC_ADDRESS_SUCCESS) << row.elf_name;
    EXPECT_NE(found.function, nullptr) << row.elf_name;
  }
}

TEST(ProcAddress, TheNewestVariantUpToTheVersionWins) {
  EXPECT_EQ(proc_address("cuCtxCreate", 3020, false).function,
            reinterpret_cast<void*>(&cuCtxCreate_v2));
  EXPECT_EQ(proc_address("cuCtxCreate", 11030, false).function,
            reinterpret_cast<void*>(&cuCtxCreate_v2));
  EXPECT_EQ(proc_address("cuCtxCreate", 12040, false).function,
            reinterpret_cast<void*>(&cuCtxCreate_v3));
  EXPECT_EQ(proc_address("cuCtxCreate", 12050, false).function,
            reinterpret_cast<void*>(&cuCtxCreate_v4));
  EXPECT_EQ(proc_address("cuCtxCreate", 13000, false).function,
            reinterpret_cast<void*>(&cuCtxCreate_v4));
  EXPECT_EQ(proc_address("cuMemAlloc", 13000, false).function,
            reinterpret_cast<void*>(&cuMemAlloc_v2));
}

TEST(ProcAddress, InstantiatingHasAnotherNameFromTwelveOn) {
  EXPECT_EQ(proc_address("cuGraphInstantiate", 11080, false).function,
            reinterpret_cast<void*>(&cuGraphInstantiate_v2));
  EXPECT_EQ(proc_address("cuGraphInstantiate", 12000, false).function,
            reinterpret_cast<void*>(&cuGraphInstantiateWithFlags));
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

TEST(ProcAddress, PerThreadVariantsAreServedWhereThereAreSuch) {
  EXPECT_EQ(proc_address("cuMemcpyAsync", 13000, true).function,
            reinterpret_cast<void*>(&cuMemcpyAsync_ptsz));
  EXPECT_EQ(proc_address("cuMemcpyHtoD", 13000, true).function,
            reinterpret_cast<void*>(&cuMemcpyHtoD_v2_ptds));
  EXPECT_EQ(proc_address("cuMemCreate", 13000, true).function,
            reinterpret_cast<void*>(&cuMemCreate));
}

TEST(ProcAddress, PerThreadNeverGetsALegacyVariant) {
  const ProcAddress too_old = proc_address("cuMemcpyAsync", 6050, true);
  EXPECT_EQ(too_old.function, nullptr) << "the legacy one is of 4.0, this one of 7.0";
  EXPECT_EQ(too_old.status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}

TEST(ProcAddress, FindsStubs) {
  const ProcAddress stub = proc_address("cuTexObjectCreate", 13000, false);
  EXPECT_EQ(stub.status, CU_GET_PROC_ADDRESS_SUCCESS);
  EXPECT_NE(stub.function, nullptr);
  EXPECT_EQ(proc_address("cuMemAlloc", 2000, false).status, CU_GET_PROC_ADDRESS_SUCCESS)
      << "the variant with 32-bit sizes";
  EXPECT_NE(proc_address("cuMemAlloc", 2000, false).function,
            reinterpret_cast<void*>(&cuMemAlloc_v2));
}

}  // namespace
}  // namespace ferry::sim
