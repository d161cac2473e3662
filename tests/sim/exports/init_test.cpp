// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ExportsInitTest : public SimTest {};

TEST_F(ExportsInitTest, TheVersionIsThatOfTheToolkit) {
  int version = 0;
  FERRY_OK(cuDriverGetVersion(&version));
  EXPECT_EQ(version, 13000);
}

TEST_F(ExportsInitTest, ThePlainLookUpHasNoStatusButAnError) {
  void* address = nullptr;
  EXPECT_EQ(cuGetProcAddress("cuMemAlloc", &address, 12000, 0), CUDA_SUCCESS);
  EXPECT_EQ(address, reinterpret_cast<void*>(&cuMemAlloc_v2));
  EXPECT_EQ(cuGetProcAddress("cuNothing", &address, 12000, 0), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(address, nullptr);
}

TEST_F(ExportsInitTest, TheLookUpFindsItselfInBothVariants) {
  void* address = nullptr;
  CUdriverProcAddressQueryResult status{};
  FERRY_OK(cuGetProcAddress_v2("cuGetProcAddress", &address, 11030, 0, &status));
  EXPECT_EQ(address, reinterpret_cast<void*>(&cuGetProcAddress));
  FERRY_OK(cuGetProcAddress_v2("cuGetProcAddress", &address, 13000, 0, nullptr))
      << "the status is optional";
  EXPECT_EQ(address, reinterpret_cast<void*>(&cuGetProcAddress_v2));
}

TEST_F(ExportsInitTest, ThereAreNoTablesOfUndocumentedFunctions) {
  const CUuuid id{};
  const void* table = &id;
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_FOUND);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(StartsWith("ferry-sim: cuGetExportTable was asked for the table 00"),
                    HasSubstr("the CUDA runtime (libcudart")));
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "said once";
  EXPECT_EQ(table, nullptr);
  EXPECT_EQ(cuGetExportTable(nullptr, &id), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsInitTest, FlagsAreChecked) {
  void* address = nullptr;
  CUdriverProcAddressQueryResult status{};
  EXPECT_EQ(cuGetProcAddress_v2("cuInit", &address, 13000, 3, &status), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetProcAddress_v2("cuInit", &address, 13000, 4, &status), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetProcAddress_v2("cuInit", &address, -1, 0, &status), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetProcAddress_v2("cuInit", &address, 13010, 0, &status), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsInitTest, FaultsReachTheFunctionsThatWorkBeforeInit) {
  ASSERT_EQ(ferry_sim_fail_nth("cuDriverGetVersion", 1, 999), 0);
  int version = 0;
  EXPECT_EQ(cuDriverGetVersion(&version), CUDA_ERROR_UNKNOWN);
  ASSERT_EQ(ferry_sim_fail_nth("cuInit", 1, 100), 0);
  EXPECT_EQ(cuInit(0), CUDA_ERROR_NO_DEVICE);
  ASSERT_EQ(ferry_sim_fail_nth("cuGetProcAddress", 2, 801), 0);
  void* address = nullptr;
  EXPECT_EQ(cuGetProcAddress("cuInit", &address, 12000, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGetProcAddress_v2("cuInit", &address, 12000, 0, nullptr), CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace
}  // namespace ferry::sim
