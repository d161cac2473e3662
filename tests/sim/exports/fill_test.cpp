// SPDX-License-Identifier: Apache-2.0
// When fills run; what they write is judged by the conformance suite.
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsFillTest : public SimTest {
 protected:
  void SetUp() override { restart("schedule=lazy"); }
};

TEST_F(ExportsFillTest, DeviceMemoryIsFilledWhenSomethingWaits) {
  const CUdeviceptr device = allocate(4096);
  FERRY_OK(cuMemsetD2D16_v2(device, 64, 0x0707, 32, 64));
  EXPECT_EQ(peek(device), kUnwritten);
  FERRY_OK(cuStreamSynchronize(nullptr));
  EXPECT_EQ(peek(device), 0x07070707U);
}

TEST_F(ExportsFillTest, HostMemoryIsFilledOnReturn) {
  auto* const host = static_cast<unsigned char*>(allocate_host(64));
  FERRY_OK(cuMemsetD2D8_v2(reinterpret_cast<CUdeviceptr>(host), 16, 3, 4, 4));
  EXPECT_EQ(host[48], 3);
  EXPECT_EQ(host[52], 0);
  FERRY_OK(cuMemsetD16_v2_ptds(reinterpret_cast<CUdeviceptr>(host), 0x0102, 2));
  EXPECT_EQ(host[0], 2);
  EXPECT_EQ(host[1], 1);
}

TEST_F(ExportsFillTest, TheGapsBetweenRowsAreNotTouched) {
  const CUdeviceptr device = allocate(4096);
  const CUstream one = stream();
  const CUstream other = stream();
  FERRY_OK(cuMemsetD2D8Async(device, 64, 1, 32, 4, one));
  FERRY_OK(cuMemsetD2D8Async(device + 32, 64, 2, 32, 4, other));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(ferry_sim_take_hazards(), 0U);
  FERRY_OK(cuMemsetD2D8Async(device, 64, 1, 33, 4, one));
  FERRY_OK(cuMemsetD2D8Async(device + 32, 64, 2, 32, 4, other));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_GT(ferry_sim_take_hazards(), 0U);
}

}  // namespace
}  // namespace ferry::sim
