// SPDX-License-Identifier: Apache-2.0
// Memory of the other socket, as a program sees it.
#include <sys/mman.h>

#include <thread>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

constexpr std::size_t kBytes = 64 * kMiB;

class HostNodesTest : public SimTest {
 protected:
  void SetUp() override { restart("profile=h100-pcie5-2socket;data=none;devices=2"); }

  std::uint64_t time_of(CUdeviceptr to, CUdeviceptr from) {
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    const std::uint64_t before = ferry_sim_now_ps();
    EXPECT_EQ(cuMemcpyAsync(to, from, kBytes, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    return ferry_sim_now_ps() - before;
  }
  static CUdeviceptr pinned() { return reinterpret_cast<CUdeviceptr>(allocate_host(kBytes)); }
};

TEST_F(HostNodesTest, MemoryLiesWhereTheThreadSays) {
  const CUdeviceptr device = allocate(kBytes);
  const CUdeviceptr near = pinned();
  ASSERT_EQ(ferry_sim_set_thread_node(1), 0);
  const CUdeviceptr far = pinned();
  CUdeviceptr other_threads = 0;
  std::thread([&] {
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    other_threads = pinned();
  }).join();
  ASSERT_EQ(ferry_sim_set_thread_node(-1), 0);
  const CUdeviceptr near_again = pinned();
  const std::uint64_t up = time_of(device, near);
  const std::uint64_t down = time_of(near, device);
  EXPECT_GT(time_of(device, far), up * 5 / 4);
  EXPECT_GT(time_of(far, device), down * 2);
  EXPECT_EQ(time_of(device, other_threads), up);
  EXPECT_EQ(time_of(device, near_again), up);
}

TEST_F(HostNodesTest, MemoryIsNearTheDeviceItWasAllocatedFor) {
  int node = -1;
  FERRY_OK(cuDeviceGetAttribute(&node, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 0));
  EXPECT_EQ(node, 0);
  FERRY_OK(cuDeviceGetAttribute(&node, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 1));
  EXPECT_EQ(node, 1);
  const CUdeviceptr first = allocate(kBytes);
  const CUdeviceptr of_first = pinned();
  const std::uint64_t up = time_of(first, of_first);
  CUcontext other = nullptr;
  FERRY_OK(cuDevicePrimaryCtxRetain(&other, 1));
  FERRY_OK(cuCtxSetCurrent(other));
  const CUdeviceptr second = allocate(kBytes);
  const CUdeviceptr of_second = pinned();
  EXPECT_EQ(time_of(second, of_second), up);
  EXPECT_GT(time_of(second, of_first), up * 5 / 4);
}

TEST_F(HostNodesTest, WhereMemoryLiesCanBeSaidOfAnyPart) {
  const CUdeviceptr device = allocate(kBytes);
  const CUdeviceptr host = pinned();
  const std::uint64_t near = time_of(device, host);
  ASSERT_EQ(ferry_sim_place_host(reinterpret_cast<void*>(host), kBytes, 1), 0);
  const std::uint64_t far = time_of(device, host);
  ASSERT_EQ(ferry_sim_place_host(reinterpret_cast<void*>(host), kBytes / 2, 0), 0);
  const std::uint64_t half = time_of(device, host);
  EXPECT_NEAR(static_cast<double>(half), static_cast<double>(near + far) / 2, 10e6);
}

TEST_F(HostNodesTest, RegisteredMemoryStaysWhereItWasPlaced) {
  void* const pages = mmap(nullptr, 2 * kBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  const auto address = reinterpret_cast<CUdeviceptr>(pages);
  const CUdeviceptr device = allocate(kBytes);
  ASSERT_EQ(ferry_sim_place_host(pages, kBytes, 1), 0);
  FERRY_OK(cuMemHostRegister_v2(pages, 2 * kBytes, 0));
  const std::uint64_t near = time_of(device, address + kBytes);
  EXPECT_GT(time_of(device, address), near * 5 / 4);
  FERRY_OK(cuMemHostUnregister(pages));
  ASSERT_EQ(ferry_sim_set_thread_node(1), 0);
  FERRY_OK(cuMemHostRegister_v2(pages, 2 * kBytes, 0));
  EXPECT_GT(time_of(device, address + kBytes), near * 5 / 4) << "of the thread that registers";
  FERRY_OK(cuMemHostUnregister(pages));
  munmap(pages, 2 * kBytes);
}

TEST_F(HostNodesTest, NodesThatAreNotThereAreRefused) {
  void* const host = allocate_host(4096);
  EXPECT_EQ(ferry_sim_set_thread_node(2), -1);
  EXPECT_EQ(ferry_sim_set_thread_node(-2), -1);
  EXPECT_EQ(ferry_sim_place_host(host, 4096, 2), -1);
  EXPECT_EQ(ferry_sim_place_host(host, 4096, -1), -1);
  EXPECT_EQ(ferry_sim_place_host(nullptr, 4096, 0), -1);
  EXPECT_EQ(ferry_sim_place_host(host, 0, 0), -1);
  EXPECT_EQ(ferry_sim_place_host(host, SIZE_MAX, 0), -1);
  restart("");
  EXPECT_EQ(ferry_sim_set_thread_node(1), -1) << "one node without a profile";
  EXPECT_EQ(ferry_sim_set_thread_node(0), 0);
  int node = 0;
  FERRY_OK(cuDeviceGetAttribute(&node, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 0));
  EXPECT_EQ(node, -1) << "nothing is said of the host";
}

TEST_F(HostNodesTest, AThreadsNodeIsThatOfOneMachine) {
  ASSERT_EQ(ferry_sim_set_thread_node(1), 0);
  restart("profile=h100-pcie5-2socket;data=none");
  const CUdeviceptr device = allocate(kBytes);
  const CUdeviceptr host = pinned();
  const std::uint64_t up = time_of(device, host);
  ASSERT_EQ(ferry_sim_place_host(reinterpret_cast<void*>(host), kBytes, 0), 0);
  EXPECT_EQ(time_of(device, host), up);
}

}  // namespace
}  // namespace ferry::sim
