// SPDX-License-Identifier: Apache-2.0
// What the host does to its own memory while a copy that uses it is queued, under lazy, where it
// stays queued until something waits for it.
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <cstring>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

using ::testing::HasSubstr;

class BuffersInFlightTest : public SimTest {
 protected:
  static constexpr std::size_t kBytes = 1 << 20;

  void SetUp() override {
    restart("schedule=lazy");
    device = allocate(kBytes);
    FERRY_OK(cuMemsetD8_v2(device, 3, kBytes));
    FERRY_OK(cuCtxSynchronize());
    mine = stream();
  }

  // What the wait for the stream prints, and whether it names a hazard.
  std::string wait(CUresult expected = CUDA_SUCCESS, std::uint64_t hazards = 1) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(cuStreamSynchronize(mine), expected);
    EXPECT_EQ(ferry_sim_take_hazards(), hazards);
    return ::testing::internal::GetCapturedStderr();
  }

  static char* map() {
    void* const memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    return static_cast<char*>(memory);
  }

  CUdeviceptr device = 0;
  CUstream mine = nullptr;
};

TEST_F(BuffersInFlightTest, ADestinationThatTheHostWritesIsNamed) {
  char* const host = static_cast<char*>(allocate_host(kBytes));
  FERRY_OK(cuMemcpyDtoHAsync_v2(host, device, kBytes, mine));
  host[kBytes - 1] = 9;
  EXPECT_THAT(wait(), HasSubstr("changed the destination of cuMemcpyDtoHAsync"));
  EXPECT_EQ(host[kBytes - 1], 3);
}

TEST_F(BuffersInFlightTest, ASourceThatTheHostWritesIsNamed) {
  char* const host = static_cast<char*>(allocate_host(kBytes));
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, kBytes, mine));
  host[0] = static_cast<char>(host[0] + 1);
  EXPECT_THAT(wait(), HasSubstr("changed the source of cuMemcpyHtoDAsync"));
}

TEST_F(BuffersInFlightTest, WhatQueuedWorkWritesThereIsNoChange) {
  char* const host = static_cast<char*>(allocate_host(kBytes));
  FERRY_OK(cuMemcpyDtoHAsync_v2(host, device, kBytes, mine));
  FERRY_OK(cuMemcpyDtoHAsync_v2(host, device, kBytes, mine));
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, kBytes, mine));
  FERRY_OK(cuLaunchHostFunc(
      mine, [](void* data) { *static_cast<char*>(data) = 7; }, host));
  FERRY_OK(cuMemcpyDtoHAsync_v2(host, device, kBytes, mine));
  wait(CUDA_SUCCESS, 0);
}

// The two copies collide, which is said once; the host has done nothing.
TEST_F(BuffersInFlightTest, AnotherCopyIsNotTakenForTheHost) {
  char* const host = static_cast<char*>(allocate_host(kBytes));
  FERRY_OK(cuMemcpyDtoHAsync_v2(host, device, kBytes, mine));
  const CUdeviceptr other = allocate(kBytes);
  FERRY_OK(cuMemcpyDtoHAsync_v2(host, other, kBytes, stream()));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_F(BuffersInFlightTest, AHostFunctionBeforeThemMayWriteBothSides) {
  char* const host = static_cast<char*>(allocate_host(2 * kBytes));
  FERRY_OK(cuLaunchHostFunc(
      mine, [](void* data) { std::memset(data, 7, 2 * kBytes); }, host));
  FERRY_OK(cuMemcpyDtoHAsync_v2(host, device, kBytes, mine));
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, host + kBytes, kBytes, mine));
  wait(CUDA_SUCCESS, 0);
}

TEST_F(BuffersInFlightTest, TheProgramMayWriteUntilItLetsAWaitingStreamGoOn) {
  char* const host = static_cast<char*>(allocate_host(kBytes));
  auto* const word = static_cast<std::uint32_t*>(allocate_host(4));
  *word = 0;
  FERRY_OK(cuStreamWaitValue32_v2(mine, reinterpret_cast<CUdeviceptr>(word), 1,
                                  CU_STREAM_WAIT_VALUE_EQ));
  FERRY_OK(cuMemcpyDtoHAsync_v2(host, device, kBytes, mine));
  host[5] = 1;
  *word = 1;
  wait(CUDA_SUCCESS, 0);
}

TEST_F(BuffersInFlightTest, MemoryThatIsUnmappedIsNamedAndNotTouched) {
  for (const bool to_device : {true, false}) {
    SetUp();
    char* const host = map();
    FERRY_OK(to_device ? cuMemcpyHtoDAsync_v2(device, host, kBytes, mine)
                       : cuMemcpyDtoHAsync_v2(host, device, kBytes, mine));
    munmap(host + kBytes / 2, kBytes / 2);
    EXPECT_THAT(wait(CUDA_ERROR_ILLEGAL_ADDRESS), HasSubstr("gave memory of cuMemcpy"));
    munmap(host, kBytes / 2);
  }
}

TEST_F(BuffersInFlightTest, RegisteredMemoryThatIsUnmappedToo) {
  char* const host = map();
  FERRY_OK(cuMemHostRegister_v2(host, kBytes, 0));
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, kBytes, mine));
  munmap(host, kBytes);
  EXPECT_THAT(wait(CUDA_ERROR_ILLEGAL_ADDRESS), HasSubstr("back to the system"));
}

TEST_F(BuffersInFlightTest, SoIsTheMemoryOfABatch) {
  for (const CUmemcpySrcAccessOrder order :
       {CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, CU_MEMCPY_SRC_ACCESS_ORDER_ANY}) {
    SetUp();
    char* const host = map();
    CUdeviceptr destination = device;
    auto source = reinterpret_cast<CUdeviceptr>(host);
    std::size_t bytes = kBytes;
    std::size_t first = 0;
    CUmemcpyAttributes attributes{};
    attributes.srcAccessOrder = order;
    FERRY_OK(cuMemcpyBatchAsync_v2(&destination, &source, &bytes, 1, &attributes, &first, 1, mine));
    munmap(host, kBytes);
    EXPECT_THAT(wait(CUDA_ERROR_ILLEGAL_ADDRESS), HasSubstr("gave memory of cuMemcpyBatchAsync"));
  }
}

}  // namespace
}  // namespace ferry::sim
