// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsProfilerTest : public SimTest {};

TEST_F(ExportsProfilerTest, NeedsAContextAndDoesNothing) {
  FERRY_OK(cuProfilerStart());
  FERRY_OK(cuProfilerStop());
  CUcontext popped = nullptr;
  FERRY_OK(cuCtxPopCurrent_v2(&popped));
  EXPECT_EQ(cuProfilerStart(), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuProfilerStop(), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace
}  // namespace ferry::sim
