// SPDX-License-Identifier: Apache-2.0
// Start-up, versions, the look-up of functions, and the texts of errors.
#include <string>

#include "conformance/fixture.hpp"

namespace ferry::conformance {
namespace {

TEST(Startup, InitTakesNoFlagsAndMayBeRepeated) {
  EXPECT_EQ(cuda().cuInit(1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuInit(0), CUDA_SUCCESS);
}

TEST(Startup, VersionIsMajorTimesThousand) {
  int version = 0;
  FERRY_OK(cuda().cuDriverGetVersion(&version));
  EXPECT_GE(version, 12000);
  EXPECT_EQ(version % 10, 0);
  EXPECT_EQ(cuda().cuDriverGetVersion(nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST(Startup, ErrorsHaveNamesAndTexts) {
  const char* text = nullptr;
  FERRY_OK(cuda().cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text));
  EXPECT_STREQ(text, "CUDA_ERROR_OUT_OF_MEMORY");
  FERRY_OK(cuda().cuGetErrorName(CUDA_SUCCESS, &text));
  EXPECT_STREQ(text, "CUDA_SUCCESS");
  FERRY_OK(cuda().cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_FALSE(std::string(text).empty());
}

TEST(Startup, UnknownErrorsGiveNullTexts) {
  const auto unknown = static_cast<CUresult>(1000);
  const char* text = "untouched";
  EXPECT_EQ(cuda().cuGetErrorName(unknown, &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
  text = "untouched";
  EXPECT_EQ(cuda().cuGetErrorString(unknown, &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

struct LookedUp {
  CUresult result;
  void* address;
  CUdriverProcAddressQueryResult status;
};

LookedUp look_up(const char* name, int version, cuuint64_t flags = CU_GET_PROC_ADDRESS_DEFAULT) {
  LookedUp found{CUDA_ERROR_UNKNOWN, nullptr, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND};
  found.result = cuda().cuGetProcAddress_v2(name, &found.address, version, flags, &found.status);
  return found;
}

TEST(ProcAddress, GivesTheVariantOfTheVersionAskedFor) {
  const LookedUp old_create = look_up("cuCtxCreate", 4000);
  const LookedUp new_create = look_up("cuCtxCreate", 12050);
  EXPECT_EQ(old_create.status, CU_GET_PROC_ADDRESS_SUCCESS);
  EXPECT_EQ(new_create.status, CU_GET_PROC_ADDRESS_SUCCESS);
  EXPECT_NE(old_create.address, nullptr);
  EXPECT_NE(new_create.address, nullptr);
  EXPECT_NE(old_create.address, new_create.address);
}

TEST(ProcAddress, TellsUnknownFromTooOld) {
  const LookedUp unknown = look_up("cuNoSuchFunction", 12000);
  EXPECT_EQ(unknown.address, nullptr);
  EXPECT_EQ(unknown.status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  const LookedUp too_old = look_up("cuMemCreate", 10000);
  EXPECT_EQ(too_old.address, nullptr);
  EXPECT_EQ(too_old.status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}

TEST(ProcAddress, RefusesBadArguments) {
  void* address = nullptr;
  CUdriverProcAddressQueryResult status{};
  int version = 0;
  FERRY_OK(cuda().cuDriverGetVersion(&version));
  EXPECT_EQ(cuda().cuGetProcAddress_v2(nullptr, &address, 12000, 0, &status),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuGetProcAddress_v2("cuInit", nullptr, 12000, 0, &status),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuGetProcAddress_v2("cuInit", &address, version + 1000, 0, &status),
            CUDA_ERROR_INVALID_VALUE);
}

TEST(ProcAddress, PerThreadStreamsAreNeverServedByTheLegacyVariant) {
  const LookedUp legacy = look_up("cuMemcpyAsync", 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM);
  const LookedUp per_thread =
      look_up("cuMemcpyAsync", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
  EXPECT_NE(legacy.address, nullptr);
  EXPECT_NE(legacy.address, per_thread.address);
  // Functions that know no stream are the same in both.
  EXPECT_EQ(look_up("cuMemCreate", 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM).address,
            look_up("cuMemCreate", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM).address);
}

}  // namespace
}  // namespace ferry::conformance
