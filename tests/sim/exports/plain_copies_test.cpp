// SPDX-License-Identifier: Apache-2.0
// What a program may rely on when a copy that is synchronous by its name returns: from pageable
// memory only that its source has been read, from page-locked memory and to the host all of it.
#include <vector>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

constexpr std::size_t kBytes = 64 * 1024;

class PlainCopiesTest : public SimTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    restart(GetParam());
    device = allocate(kBytes);
    other = stream();
  }
  void TearDown() override {
    ferry_sim_drain();
    SimTest::TearDown();
  }

  // Another stream, which is not ordered with the default one, reads what the copy wrote.
  void read_at_once() { FERRY_OK(cuMemcpyDtoDAsync_v2(allocate(kBytes), device, kBytes, other)); }
  void copy_up() { FERRY_OK(cuMemcpyHtoD_v2(device, pageable.data(), kBytes)); }

  CUdeviceptr device = 0;
  CUstream other = nullptr;  // non-blocking
  std::vector<unsigned char> pageable = std::vector<unsigned char>(kBytes, 1);
};

TEST_P(PlainCopiesTest, BytesFromPageableMemoryMayStillBeOnTheirWay) {
  testing::internal::CaptureStderr();
  copy_up();
  read_at_once();
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("may return before its bytes have arrived"),
            std::string::npos);
}

TEST_P(PlainCopiesTest, TheirSourceMayBeWrittenAtOnce) {
  copy_up();
  std::fill(pageable.begin(), pageable.end(), static_cast<unsigned char>(2));
  // Work of others may write it, too.
  FERRY_OK(cuMemcpyDtoHAsync_v2(pageable.data(), allocate(kBytes), kBytes, other));
  FERRY_OK(cuStreamSynchronize(other));
  unsigned char byte = 0;
  FERRY_OK(cuMemcpyDtoH_v2(&byte, device, 1));
  EXPECT_EQ(byte, 1);
  EXPECT_EQ(ferry_sim_take_hazards(), 0U);
}

TEST_P(PlainCopiesTest, TheirSourceMayNotBeWrittenBefore) {
  FERRY_OK(cuMemcpyDtoHAsync_v2(pageable.data(), allocate(kBytes), kBytes, other));
  copy_up();
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_P(PlainCopiesTest, BytesFromHostToHostHaveArrived) {
  auto* const to = static_cast<unsigned char*>(allocate_host(kBytes));
  FERRY_OK(cuMemcpy(reinterpret_cast<CUdeviceptr>(to),
                    reinterpret_cast<CUdeviceptr>(pageable.data()), kBytes));
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, to, kBytes, other));
  EXPECT_EQ(ferry_sim_take_hazards(), 0U);
}

TEST_P(PlainCopiesTest, TheDefaultStreamAndItsBlockingOnesComeAfterThem) {
  copy_up();
  FERRY_OK(cuMemcpyDtoDAsync_v2(allocate(kBytes), device, kBytes, nullptr));
  CUstream blocking = nullptr;
  FERRY_OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  FERRY_OK(cuMemcpyDtoDAsync_v2(allocate(kBytes), device, kBytes, blocking));
  EXPECT_EQ(ferry_sim_take_hazards(), 0U);
}

TEST_P(PlainCopiesTest, AWaitOrAnEventOrdersOtherStreams) {
  copy_up();
  FERRY_OK(cuStreamSynchronize(nullptr));
  read_at_once();
  FERRY_OK(cuStreamSynchronize(other));
  copy_up();
  const CUevent arrived = event();
  FERRY_OK(cuEventRecord(arrived, nullptr));
  FERRY_OK(cuStreamWaitEvent(other, arrived, 0));
  read_at_once();
  EXPECT_EQ(ferry_sim_take_hazards(), 0U);
}

TEST_P(PlainCopiesTest, TheCopyWaitsForWhatCameBeforeIt) {
  const CUdeviceptr earlier = allocate(kBytes);
  FERRY_OK(cuMemsetD8Async(earlier, 1, kBytes, nullptr));
  copy_up();
  FERRY_OK(cuMemcpyDtoDAsync_v2(allocate(kBytes), earlier, kBytes, other));
  EXPECT_EQ(ferry_sim_take_hazards(), 0U);
}

TEST_P(PlainCopiesTest, MemoryMayBeFreedAtOnce) {
  copy_up();
  FERRY_OK(cuMemFree_v2(device));
  EXPECT_EQ(ferry_sim_take_hazards(), 0U);
}

TEST_P(PlainCopiesTest, BytesFromPageLockedMemoryHaveArrived) {
  FERRY_OK(cuMemcpyHtoD_v2(device, allocate_host(kBytes), kBytes));
  read_at_once();
  EXPECT_EQ(ferry_sim_take_hazards(), 0U);
}

TEST_P(PlainCopiesTest, RegisteredInPartIsPageable) {
  FERRY_OK(cuMemHostRegister_v2(pageable.data(), kBytes / 2, 0));
  copy_up();
  read_at_once();
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
  FERRY_OK(cuMemHostUnregister(pageable.data()));
}

TEST_P(PlainCopiesTest, MemoryThatAsksForSynchronousOperationsGetsThem) {
  unsigned on = 1;
  FERRY_OK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, device));
  copy_up();
  read_at_once();
  EXPECT_EQ(ferry_sim_take_hazards(), 0U);
}

TEST_P(PlainCopiesTest, BytesForTheHostHaveArrived) {
  copy_up();
  FERRY_OK(cuMemcpyDtoH_v2(pageable.data(), device, kBytes));
  read_at_once();
  FERRY_OK(cuMemcpyDtoHAsync_v2(pageable.data(), device, kBytes, other));
  EXPECT_EQ(ferry_sim_take_hazards(), 0U);
}

TEST_P(PlainCopiesTest, RowsFromPageableMemoryMayStillBeOnTheirWay) {
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = pageable.data();
  copy.srcPitch = 512;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = device;
  copy.dstPitch = 256;
  copy.WidthInBytes = 256;
  copy.Height = 16;
  FERRY_OK(cuMemcpy2D_v2(&copy));
  read_at_once();
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Schedules, PlainCopiesTest,
                         testing::Values("schedule=eager", "schedule=lazy",
                                         "schedule=random;seed=1", "profile=h200-pcie5"));

}  // namespace
}  // namespace ferry::sim
