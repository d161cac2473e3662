// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/stubs.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sim/machine/proc_address.hpp"

namespace ferry::sim {
namespace {

using StubFunction = CUresult (*)();

TEST(Stubs, NoneHasTheNameOfAFunctionThatIsThere) {
  std::set<std::string_view> names;
  for (const SymbolRow& row : kSymbols) names.insert(row.elf_name);
  for (const Stub& stub : stubs()) EXPECT_TRUE(names.insert(stub.row.elf_name).second);
  EXPECT_GT(names.size(), 600U) << "a driver of CUDA 13 has some 640";
}

TEST(Stubs, EachIsFoundByItsBaseNameAndVersion) {
  for (const Stub& stub : stubs()) {
    const ProcAddress found = proc_address(stub.row.name, stub.row.version, stub.row.per_thread);
    EXPECT_EQ(found.function, stub.function) << stub.row.elf_name;
  }
}

TEST(Stubs, EachRefusesAndSaysSoOnce) {
  const Stub* chosen = nullptr;
  for (const Stub& stub : stubs()) {
    if (stub.row.elf_name == "cuTexObjectCreate") chosen = &stub;
  }
  ASSERT_NE(chosen, nullptr);
  const auto function = reinterpret_cast<StubFunction>(chosen->function);
  testing::internal::CaptureStderr();
  EXPECT_EQ(function(), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ferry-sim: cuTexObjectCreate is not supported by the stand-in\n");
  testing::internal::CaptureStderr();
  EXPECT_EQ(function(), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace ferry::sim
