// SPDX-License-Identifier: Apache-2.0
// With the test in the part of the other process: it makes the files and the handles by hand.
#include "sim/machine/opened_memory.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "sim/machine/ipc_handle.hpp"
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

// A process that has nothing but a file open, until it goes.
class Holder {
 public:
  explicit Holder(std::uint64_t size = 4 * kMiB) {
    SharedDescription described;
    described.kind = SharedKind::allocated;
    described.with_data = 1;
    described.size = size;
    memory = SharedMemory::create(described);
    described.device = 1;
    elsewhere = SharedMemory::create(described);
    process = fork();
    if (process == 0) {
      pause();
      _exit(0);
    }
  }
  ~Holder() { end(); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  void end() {
    if (process <= 0) return;
    EXPECT_EQ(kill(process, SIGKILL), 0);
    EXPECT_EQ(waitpid(process, nullptr, 0), process);
    process = -1;
  }
  CUipcMemHandle handle_of(const OfferId& offer) const { return handle_of(*memory, offer); }
  CUipcMemHandle handle_of(const SharedMemory& its, const OfferId& offer) const {
    CUipcMemHandle handle{};
    write_ipc_handle(
        {SharedKind::allocated, process, its.file().descriptor(), its.file().id(), offer}, &handle);
    return handle;
  }

  std::shared_ptr<SharedMemory> memory;     // of device 0
  std::shared_ptr<SharedMemory> elsewhere;  // of device 1
  pid_t process = -1;
};

class OpenedMemoryTest : public SimTest {
 protected:
  static CUresult open(CUdeviceptr& address, const CUipcMemHandle& handle) {
    return cuIpcOpenMemHandle_v2(&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  }
};

TEST_F(OpenedMemoryTest, HoldsTheOfferAndNothingBesideIt) {
  const Holder holder;
  const auto offer = holder.memory->offer({2 * kMiB, 2 * kMiB, 512, 1000});
  SharedRange theirs(holder.memory, 2 * kMiB, 2 * kMiB);
  *theirs.open_for_write(512, 1) = std::byte{9};
  CUdeviceptr address = 0;
  FERRY_OK(open(address, holder.handle_of(*offer)));
  EXPECT_EQ(peek(address), 0xA5A5A509U);
  FERRY_OK(cuMemsetD8_v2(address + 999, 4, 1));
  EXPECT_EQ(theirs.peek(512 + 999)[0], std::byte{4});
  CUdeviceptr base = 0;
  std::size_t size = 0;
  FERRY_OK(cuMemGetAddressRange_v2(&base, &size, address + 500));
  EXPECT_EQ(base, address);
  EXPECT_EQ(size, 1000U);
  FERRY_OK(cuCtxSynchronize());
  FERRY_OK(cuIpcCloseMemHandle(address));
  FERRY_OK(cuMemsetD8_v2(address, 1, 1));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS) << "closed";
}

TEST_F(OpenedMemoryTest, IsNotFreedByOtherCalls) {
  const Holder holder;
  CUdeviceptr address = 0;
  FERRY_OK(open(address, holder.handle_of(*holder.memory->offer({0, 2 * kMiB, 0, 1000}))));
  EXPECT_EQ(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeAsync(address, stream()), CUDA_ERROR_INVALID_VALUE);
  CUipcMemHandle again{};
  EXPECT_EQ(cuIpcGetMemHandle(&again, address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuIpcCloseMemHandle(address + 1), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuIpcCloseMemHandle(address));
}

TEST_F(OpenedMemoryTest, ClosingItTooEarlyIsAHazard) {
  restart("schedule=lazy");
  const Holder holder;
  CUdeviceptr address = 0;
  FERRY_OK(open(address, holder.handle_of(*holder.memory->offer({0, 2 * kMiB, 0, 1000}))));
  FERRY_OK(cuMemsetD8Async(address, 1, 1000, stream()));
  FERRY_OK(cuIpcCloseMemHandle(address));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_F(OpenedMemoryTest, TwoOffersOfOneBlockAreOneMemory) {
  restart("schedule=lazy");
  const Holder holder;
  CUdeviceptr one = 0;
  CUdeviceptr other = 0;
  FERRY_OK(open(one, holder.handle_of(*holder.memory->offer({0, 2 * kMiB, 0, 1024}))));
  FERRY_OK(open(other, holder.handle_of(*holder.memory->offer({0, 2 * kMiB, 512, 1024}))));
  EXPECT_NE(one, other);
  FERRY_OK(cuMemsetD8Async(one, 1, 1024, stream()));
  FERRY_OK(cuMemsetD8Async(other, 2, 1024, stream()));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
  FERRY_OK(cuCtxSynchronize());
}

TEST_F(OpenedMemoryTest, WhatIsGoneIsNotOpened) {
  Holder holder;
  const auto offer = holder.memory->offer({0, 2 * kMiB, 0, 1000});
  const CUipcMemHandle handle = holder.handle_of(*offer);
  CUdeviceptr address = 0;
  FERRY_OK(open(address, handle));
  FERRY_OK(cuIpcCloseMemHandle(address));
  holder.memory->withdraw(*offer);
  EXPECT_EQ(open(address, handle), CUDA_ERROR_INVALID_HANDLE) << "freed";
  const auto next = holder.memory->offer({0, 2 * kMiB, 0, 1000});
  const CUipcMemHandle late = holder.handle_of(*next);
  holder.end();
  EXPECT_EQ(open(address, late), CUDA_ERROR_INVALID_HANDLE) << "its process has ended";
}

TEST_F(OpenedMemoryTest, OneContextOfADeviceHasIt) {
  const Holder holder;
  const CUipcMemHandle handle = holder.handle_of(*holder.memory->offer({0, 2 * kMiB, 0, 1000}));
  CUdeviceptr address = 0;
  FERRY_OK(open(address, handle));
  CUcontext second = nullptr;
  FERRY_OK(cuCtxCreate_v2(&second, 0, 0));
  CUdeviceptr refused = 0;
  EXPECT_EQ(open(refused, handle), CUDA_ERROR_INVALID_CONTEXT);
  FERRY_OK(cuCtxDestroy_v2(second));
  FERRY_OK(cuIpcCloseMemHandle(address));
}

TEST_F(OpenedMemoryTest, ContextsOfOtherDevicesMayHaveItAndReachIt) {
  restart("devices=2");
  const Holder holder;
  const Holder other_process;
  const Offer offer{0, 2 * kMiB, 0, 1000};
  const CUipcMemHandle handle = holder.handle_of(*holder.memory->offer(offer));
  CUdeviceptr first = 0;
  FERRY_OK(open(first, handle));
  CUcontext second = nullptr;
  FERRY_OK(cuCtxCreate_v2(&second, 0, 0));
  CUdeviceptr address = 0;
  FERRY_OK(open(address, other_process.handle_of(*other_process.memory->offer(offer))));
  FERRY_OK(open(address, holder.handle_of(*holder.elsewhere, *holder.elsewhere->offer(offer))));
  FERRY_OK(cuMemsetD8Async(address, 1, 1000, nullptr));
  FERRY_OK(cuCtxSynchronize());
  CUcontext third = nullptr;
  FERRY_OK(cuCtxCreate_v2(&third, 0, 1));
  FERRY_OK(open(address, handle));
  EXPECT_NE(address, first);
  FERRY_OK(cuMemsetD8Async(address, 2, 1000, nullptr));
  FERRY_OK(cuCtxSynchronize());
  FERRY_OK(cuCtxSetCurrent(context));
  FERRY_OK(cuMemsetD8Async(address, 3, 1000, nullptr));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(first), 0x03030303U);
  FERRY_OK(cuCtxDestroy_v2(third));
  FERRY_OK(cuCtxDestroy_v2(second));
}

TEST_F(OpenedMemoryTest, ItsAddressesServeAgain) {
  restart("reuse=immediate");
  const Holder holder;
  const CUipcMemHandle handle = holder.handle_of(*holder.memory->offer({0, 2 * kMiB, 0, 1000}));
  CUdeviceptr address = 0;
  FERRY_OK(open(address, handle));
  FERRY_OK(cuIpcCloseMemHandle(address));
  CUdeviceptr again = 0;
  FERRY_OK(open(again, handle));
  EXPECT_EQ(again, address);
}

TEST_F(OpenedMemoryTest, ClosingItLetsItsWorkEnd) {
  restart("schedule=lazy");
  const Holder holder;
  SharedRange theirs(holder.memory, 0, 2 * kMiB);
  CUdeviceptr address = 0;
  FERRY_OK(open(address, holder.handle_of(*holder.memory->offer({0, 2 * kMiB, 0, 1000}))));
  FERRY_OK(cuMemsetD8Async(address, 1, 1000, nullptr));
  FERRY_OK(cuIpcCloseMemHandle(address));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U) << "nobody waited for it";
  ASSERT_NE(theirs.peek(999), nullptr);
  EXPECT_EQ(*theirs.peek(999), std::byte{1});
  FERRY_OK(open(address, holder.handle_of(*holder.memory->offer({0, 2 * kMiB, 0, 1000}))));
  FERRY_OK(cuMemsetD8Async(address, 1, 1001, nullptr));
  EXPECT_EQ(cuIpcCloseMemHandle(address), CUDA_ERROR_ILLEGAL_ADDRESS) << "where it failed";
}

// The file stays while a neighbour is there, and others may have it open for longer.
TEST_F(OpenedMemoryTest, WhatIsFreedIsNoLongerOffered) {
  const auto handle_of = [](CUdeviceptr address) {
    CUipcMemHandle bytes{};
    EXPECT_EQ(cuIpcGetMemHandle(&bytes, address), CUDA_SUCCESS);
    return *read_ipc_handle(&bytes, SharedKind::allocated);
  };
  const CUdeviceptr address = allocate(1000);
  const IpcHandle handle = handle_of(address);
  const IpcHandle neighbour = handle_of(allocate(16));
  const auto outside =
      SharedMemory::open(SealedFile::open(handle.descriptor, SharedKind::allocated));
  EXPECT_TRUE(outside->find(handle.offer).has_value());
  FERRY_OK(cuMemFree_v2(address));
  EXPECT_FALSE(outside->find(handle.offer).has_value());
  EXPECT_TRUE(outside->find(neighbour.offer).has_value());
  restart("");
  EXPECT_FALSE(outside->find(neighbour.offer).has_value()) << "the machine is gone";
}

TEST_F(OpenedMemoryTest, GoesWithItsContext) {
  const Holder holder;
  const CUipcMemHandle handle = holder.handle_of(*holder.memory->offer({0, 2 * kMiB, 0, 1000}));
  CUcontext second = nullptr;
  FERRY_OK(cuCtxCreate_v2(&second, 0, 0));
  CUdeviceptr address = 0;
  FERRY_OK(open(address, handle));
  FERRY_OK(cuCtxDestroy_v2(second));
  EXPECT_EQ(cuIpcCloseMemHandle(address), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr base = 0;
  EXPECT_EQ(cuMemGetAddressRange_v2(&base, nullptr, address), CUDA_ERROR_NOT_FOUND);
  FERRY_OK(open(address, handle));
  FERRY_OK(cuIpcCloseMemHandle(address));
}

TEST_F(OpenedMemoryTest, OfNoUseHere) {
  Holder holder;
  const auto offer = holder.memory->offer({0, 2 * kMiB, 0, 1000});
  restart("data=none");
  CUdeviceptr address = 0;
  EXPECT_EQ(open(address, holder.handle_of(*offer)), CUDA_ERROR_MAP_FAILED);
}

}  // namespace
}  // namespace ferry::sim
