// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsContextSettingsTest : public SimTest {};

TEST_F(ExportsContextSettingsTest, IdsAreThoseOfTheContext) {
  CUcontext created = nullptr;
  FERRY_OK(cuCtxCreate_v3(&created, nullptr, 0, 0, 0));
  unsigned long long current = 0;
  unsigned long long primary = 0;
  FERRY_OK(cuCtxGetId(nullptr, &current));
  FERRY_OK(cuCtxGetId(context, &primary));
  EXPECT_NE(current, primary);
  FERRY_OK(cuCtxDestroy_v2(created));
  EXPECT_EQ(cuCtxGetId(created, &current), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxGetId(context, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsContextSettingsTest, LimitsAreKeptPerContext) {
  FERRY_OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  std::size_t value = 0;
  FERRY_OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  EXPECT_EQ(value, 4096U);
  CUcontext created = nullptr;
  FERRY_OK(cuCtxCreate_v2(&created, 0, 0));
  FERRY_OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  EXPECT_EQ(value, 1024U);
  FERRY_OK(cuCtxDestroy_v2(created));
  EXPECT_EQ(cuCtxSetLimit(CU_LIMIT_MAX, 1), CUDA_ERROR_UNSUPPORTED_LIMIT);
}

TEST_F(ExportsContextSettingsTest, FlagsAreSetAndRead) {
  FERRY_OK(cuCtxSetFlags(CU_CTX_SCHED_SPIN));
  unsigned flags = 0;
  FERRY_OK(cuCtxGetFlags(&flags));
  EXPECT_EQ(flags, unsigned{CU_CTX_SCHED_SPIN});
  EXPECT_EQ(cuCtxSetFlags(CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD), CUDA_ERROR_INVALID_VALUE);
  unsigned version = 0;
  FERRY_OK(cuCtxGetApiVersion(nullptr, &version));
  EXPECT_EQ(version, 3020U);
}

TEST_F(ExportsContextSettingsTest, AffinitiesAreNotSupported) {
  CUcontext created = nullptr;
  CUexecAffinityParam affinity{};
  EXPECT_EQ(cuCtxCreate_v3(&created, &affinity, 1, 0, 0), CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
  EXPECT_EQ(cuCtxCreate_v3(&created, nullptr, 1, 0, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsContextSettingsTest, ThePreferredCacheIsKeptPerContext) {
  FERRY_OK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
  CUfunc_cache config{};
  CUcontext created = nullptr;
  FERRY_OK(cuCtxCreate_v2(&created, 0, 0));
  FERRY_OK(cuCtxGetCacheConfig(&config));
  EXPECT_EQ(config, CU_FUNC_CACHE_PREFER_NONE);
  FERRY_OK(cuCtxDestroy_v2(created));
  FERRY_OK(cuCtxGetCacheConfig(&config));
  EXPECT_EQ(config, CU_FUNC_CACHE_PREFER_L1);
}

}  // namespace
}  // namespace ferry::sim
