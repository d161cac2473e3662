// SPDX-License-Identifier: Apache-2.0
// What two processes share: memory by descriptor and by handle, events, and whose work waits for
// whose. A process's part is a role; the test plays the other one. Pools are in
// shared_pools_test.cpp.
#include "conformance/between_processes.hpp"

#include <unistd.h>

#include <vector>

namespace ferry::conformance {
namespace {

constexpr std::size_t kBytes = 4 * kMiB;

CUmemAllocationProp shareable() {
  CUmemAllocationProp prop = pinned_on(0);
  prop.requestedHandleTypes = kDescriptor;
  return prop;
}

// Physical memory at an address; the handle goes at once, the mapping holds the memory.
struct MappedHandle {
  explicit MappedHandle(CUmemGenericAllocationHandle handle) {
    const CUmemAccessDesc description = access_of(0);
    EXPECT_EQ(cuda().cuMemAddressReserve(&address, kBytes, 0, 0, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuMemMap(address, kBytes, 0, handle, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuMemSetAccess(address, kBytes, &description, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuMemRelease(handle), CUDA_SUCCESS);
  }
  ~MappedHandle() {
    EXPECT_EQ(cuda().cuMemUnmap(address, kBytes), CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuMemAddressFree(address, kBytes), CUDA_SUCCESS);
  }
  MappedHandle(const MappedHandle&) = delete;
  MappedHandle& operator=(const MappedHandle&) = delete;

  CUdeviceptr address = 0;
};

CUmemGenericAllocationHandle import(int descriptor) {
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(cuda().cuMemImportFromShareableHandle(&handle, in_a_pointer(descriptor), kDescriptor),
            CUDA_SUCCESS);
  EXPECT_EQ(close(descriptor), 0);
  return handle;
}

class BetweenProcesses : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    int descriptors = 0;
    int events = 0;
    FERRY_OK(cuda().cuDeviceGetAttribute(
        &descriptors, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, device));
    FERRY_OK(cuda().cuDeviceGetAttribute(&events, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, device));
    if (descriptors == 0 || events == 0) GTEST_SKIP() << "the device shares nothing";
  }
  int export_of(CUmemGenericAllocationHandle handle) {
    int descriptor = -1;
    EXPECT_EQ(cuda().cuMemExportToShareableHandle(&descriptor, handle, kDescriptor, 0),
              CUDA_SUCCESS);
    return descriptor;
  }
  CUmemGenericAllocationHandle create() {
    CUmemGenericAllocationHandle handle = 0;
    const CUmemAllocationProp prop = shareable();
    EXPECT_EQ(cuda().cuMemCreate(&handle, kBytes, &prop, 0), CUDA_SUCCESS);
    return handle;
  }
};

const RegisterRole g_answer_in_created("answer in created memory", [](const Channel& test) {
  const RoleContext context;
  const MappedHandle memory(import(test.receive_descriptor()));
  test.send(read_word(memory.address + 4096));
  write_word(memory.address + 4096, 0xB0B);
  write_word(memory.address + kBytes - 4, 0xB0C);
  test.send(true);
  EXPECT_TRUE(test.receive<bool>());
  test.send(read_word(memory.address));
});

TEST_F(BetweenProcesses, BytesOfCreatedMemoryAreTheSameInBoth) {
  const CUmemGenericAllocationHandle handle = create();
  const int descriptor = export_of(handle);
  const MappedHandle memory(handle);
  write_word(memory.address + 4096, 0xA11CE);
  const PeerProcess peer("answer in created memory");
  peer.channel().send_descriptor(descriptor);
  EXPECT_EQ(peer.channel().receive<unsigned>(), 0xA11CEU);
  EXPECT_TRUE(peer.channel().receive<bool>());
  EXPECT_EQ(read_word(memory.address + 4096), 0xB0BU);
  EXPECT_EQ(read_word(memory.address + kBytes - 4), 0xB0CU);
  write_word(memory.address, 0xC0DE);
  peer.channel().send(true);
  EXPECT_EQ(peer.channel().receive<unsigned>(), 0xC0DEU);
  EXPECT_EQ(close(descriptor), 0);
}

const RegisterRole g_make_and_go("make memory and go", [](const Channel& test) {
  const RoleContext context;
  CUmemGenericAllocationHandle handle = 0;
  const CUmemAllocationProp prop = shareable();
  EXPECT_EQ(cuda().cuMemCreate(&handle, kBytes, &prop, 0), CUDA_SUCCESS);
  int descriptor = -1;
  EXPECT_EQ(cuda().cuMemExportToShareableHandle(&descriptor, handle, kDescriptor, 0), CUDA_SUCCESS);
  const MappedHandle memory(handle);
  write_word(memory.address, 0x90);
  test.send_descriptor(descriptor);
});

TEST_F(BetweenProcesses, MemoryOutlivesTheProcessThatMadeIt) {
  int descriptor = -1;
  {
    const PeerProcess peer("make memory and go");
    descriptor = peer.channel().receive_descriptor();
  }
  const MappedHandle memory(import(descriptor));
  EXPECT_EQ(read_word(memory.address), 0x90U);
}

TEST_F(BetweenProcesses, OnlyMemoryThatWasMadeForItIsExported) {
  CUmemAllocationProp prop = pinned_on(device);
  CUmemGenericAllocationHandle handle = 0;
  FERRY_OK(cuda().cuMemCreate(&handle, kBytes, &prop, 0));
  int descriptor = -1;
  EXPECT_NE(cuda().cuMemExportToShareableHandle(&descriptor, handle, kDescriptor, 0), CUDA_SUCCESS);
  FERRY_OK(cuda().cuMemRelease(handle));
  handle = create();
  EXPECT_EQ(cuda().cuMemExportToShareableHandle(&descriptor, handle, kDescriptor, 1),
            CUDA_ERROR_INVALID_VALUE)
      << "flags must be zero";
  EXPECT_EQ(cuda().cuMemExportToShareableHandle(nullptr, handle, kDescriptor, 0),
            CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuda().cuMemRelease(handle));
}

TEST_F(BetweenProcesses, ADescriptorOfSomethingElseIsNoMemory) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_NE(cuda().cuMemImportFromShareableHandle(&handle, in_a_pointer(ends[0]), kDescriptor),
            CUDA_SUCCESS);
  close(ends[0]);
  close(ends[1]);
}

const RegisterRole g_open_twice("open a handle twice", [](const Channel& test) {
  const RoleContext context;
  const auto handle = test.receive<CUipcMemHandle>();
  CUdeviceptr address = 0;
  CUdeviceptr again = 0;
  EXPECT_EQ(cuda().cuIpcOpenMemHandle_v2(&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
            CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuIpcOpenMemHandle_v2(&again, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
            CUDA_SUCCESS);
  EXPECT_EQ(again, address);
  EXPECT_EQ(cuda().cuIpcCloseMemHandle(again), CUDA_SUCCESS);
  test.send(read_word(address));
  write_word(address + 4, 0xB0B);
  EXPECT_EQ(cuda().cuIpcCloseMemHandle(address), CUDA_SUCCESS);
  EXPECT_NE(cuda().cuIpcCloseMemHandle(address), CUDA_SUCCESS);
});

TEST_F(BetweenProcesses, PlainMemoryIsOpenedByItsHandle) {
  const DeviceBuffer neighbour(1024);
  const DeviceBuffer buffer(1024);
  write_word(buffer.address, 0xA11CE);
  write_word(neighbour.address + 4, 1);
  CUipcMemHandle handle{};
  FERRY_OK(cuda().cuIpcGetMemHandle(&handle, buffer.address));
  {
    const PeerProcess peer("open a handle twice");
    peer.channel().send(handle);
    EXPECT_EQ(peer.channel().receive<unsigned>(), 0xA11CEU);
  }
  EXPECT_EQ(read_word(buffer.address + 4), 0xB0BU);
  EXPECT_EQ(read_word(neighbour.address + 4), 1U);
}

TEST_F(BetweenProcesses, MemoryIsNotOpenedWhereItWasMade) {
  const DeviceBuffer buffer(1024);
  CUipcMemHandle handle{};
  FERRY_OK(cuda().cuIpcGetMemHandle(&handle, buffer.address));
  CUdeviceptr address = 0;
  EXPECT_EQ(cuda().cuIpcOpenMemHandle_v2(&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
            CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(BetweenProcesses, OnlyPlainMemoryHasAHandle) {
  CUipcMemHandle handle{};
  const PinnedBuffer pinned(4096);
  EXPECT_EQ(cuda().cuIpcGetMemHandle(&handle, reinterpret_cast<CUdeviceptr>(pinned.pointer)),
            CUDA_ERROR_INVALID_VALUE);
  const StreamOwner stream;
  CUdeviceptr pooled = 0;
  FERRY_OK(cuda().cuMemAllocAsync(&pooled, 4096, stream.handle));
  EXPECT_EQ(cuda().cuIpcGetMemHandle(&handle, pooled), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuda().cuMemFreeAsync(pooled, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
}

// The answer comes by the socket: this process makes no call of the driver after the record, and
// its work goes on all the same.
const RegisterRole g_copy_after("copy after an event", [](const Channel& test) {
  const RoleContext context;
  const MappedHandle memory(import(test.receive_descriptor()));
  CUevent event = nullptr;
  EXPECT_EQ(cuda().cuIpcOpenEventHandle(&event, test.receive<CUipcEventHandle>()), CUDA_SUCCESS);
  EXPECT_TRUE(test.receive<bool>());
  const StreamOwner stream;
  EXPECT_EQ(cuda().cuStreamWaitEvent(stream.handle, event, 0), CUDA_SUCCESS);
  PinnedBuffer out(4096);
  EXPECT_EQ(cuda().cuMemcpyDtoHAsync_v2(out.pointer, memory.address, 4096, stream.handle),
            CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuStreamSynchronize(stream.handle), CUDA_SUCCESS);
  EXPECT_TRUE(out.holds(0x5A));
  EXPECT_EQ(cuda().cuEventDestroy_v2(event), CUDA_SUCCESS);
  test.send(true);
});

TEST_F(BetweenProcesses, AStreamWaitsForTheOtherProcessesRecord) {
  const CUmemGenericAllocationHandle handle = create();
  const int descriptor = export_of(handle);
  const MappedHandle memory(handle);
  const EventOwner event(kShared);
  const StreamOwner stream;
  CUipcEventHandle passed{};
  FERRY_OK(cuda().cuIpcGetEventHandle(&passed, event.handle));
  {
    const PeerProcess peer("copy after an event");
    peer.channel().send_descriptor(descriptor);
    peer.channel().send(passed);
    FERRY_OK(cuda().cuMemsetD8Async(memory.address, 0x5A, kBytes, stream.handle));
    FERRY_OK(cuda().cuEventRecord(event.handle, stream.handle));
    peer.channel().send(true);
    EXPECT_TRUE(peer.channel().receive<bool>());
  }
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_EQ(close(descriptor), 0);
}

const RegisterRole g_see("see records of an event", [](const Channel& test) {
  const RoleContext context;
  CUevent event = nullptr;
  EXPECT_EQ(cuda().cuIpcOpenEventHandle(&event, test.receive<CUipcEventHandle>()), CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuEventQuery(event), CUDA_SUCCESS) << "never recorded";
  test.send(true);
  EXPECT_TRUE(test.receive<bool>());
  EXPECT_EQ(cuda().cuEventSynchronize(event), CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuEventQuery(event), CUDA_SUCCESS);
  test.send(true);
  EXPECT_TRUE(test.receive<bool>());
  while (cuda().cuEventQuery(event) == CUDA_ERROR_NOT_READY) usleep(100);
  EXPECT_EQ(cuda().cuEventQuery(event), CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuEventDestroy_v2(event), CUDA_SUCCESS);
});

TEST_F(BetweenProcesses, TheHostSeesTheOtherProcessesRecords) {
  const DeviceBuffer buffer(4096);
  const EventOwner event(kShared);
  const StreamOwner stream;
  CUipcEventHandle passed{};
  FERRY_OK(cuda().cuIpcGetEventHandle(&passed, event.handle));
  {
    const PeerProcess peer("see records of an event");
    peer.channel().send(passed);
    EXPECT_TRUE(peer.channel().receive<bool>());
    for (int i = 0; i < 2; ++i) {
      FERRY_OK(cuda().cuMemsetD8Async(buffer.address, 1, 4096, stream.handle));
      FERRY_OK(cuda().cuEventRecord(event.handle, stream.handle));
      peer.channel().send(true);
      if (i == 0) {
        EXPECT_TRUE(peer.channel().receive<bool>());
      }
    }
  }
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
}

// Each queues all its turns at once; only the events keep them in step.
constexpr int kTurns = 20;

void take_turns(CUdeviceptr memory, CUevent mine, CUevent theirs, bool first,
                const Channel& other) {
  const StreamOwner stream;
  for (int turn = 0; turn < kTurns; ++turn) {
    if (!first || turn > 0) {
      EXPECT_TRUE(other.receive<bool>()) << "their record is made";
      EXPECT_EQ(cuda().cuStreamWaitEvent(stream.handle, theirs, 0), CUDA_SUCCESS);
    }
    // Each adds its word behind the last one of the other.
    const CUdeviceptr at = memory + static_cast<unsigned>(8 * turn + (first ? 4 : 8));
    EXPECT_EQ(cuda().cuMemcpyDtoDAsync_v2(at, at - 4, 4, stream.handle), CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuEventRecord(mine, stream.handle), CUDA_SUCCESS);
    other.send(true);
  }
  if (first) {
    EXPECT_TRUE(other.receive<bool>());
  }
  EXPECT_EQ(cuda().cuStreamSynchronize(stream.handle), CUDA_SUCCESS);
}

const RegisterRole g_turns("take turns", [](const Channel& test) {
  const RoleContext context;
  const MappedHandle memory(import(test.receive_descriptor()));
  CUevent theirs = nullptr;
  EXPECT_EQ(cuda().cuIpcOpenEventHandle(&theirs, test.receive<CUipcEventHandle>()), CUDA_SUCCESS);
  const EventOwner mine(kShared);
  CUipcEventHandle passed{};
  EXPECT_EQ(cuda().cuIpcGetEventHandle(&passed, mine.handle), CUDA_SUCCESS);
  test.send(passed);
  take_turns(memory.address, mine.handle, theirs, false, test);
  EXPECT_TRUE(test.receive<bool>());
  EXPECT_EQ(cuda().cuEventDestroy_v2(theirs), CUDA_SUCCESS);
});

TEST_F(BetweenProcesses, WorkOfTwoProcessesTakesTurns) {
  const CUmemGenericAllocationHandle handle = create();
  const int descriptor = export_of(handle);
  const MappedHandle memory(handle);
  write_word(memory.address, 0x77);
  const EventOwner mine(kShared);
  CUipcEventHandle passed{};
  FERRY_OK(cuda().cuIpcGetEventHandle(&passed, mine.handle));
  const PeerProcess peer("take turns");
  peer.channel().send_descriptor(descriptor);
  peer.channel().send(passed);
  CUevent theirs = nullptr;
  FERRY_OK(cuda().cuIpcOpenEventHandle(&theirs, peer.channel().receive<CUipcEventHandle>()));
  take_turns(memory.address, mine.handle, theirs, true, peer.channel());
  FERRY_OK(cuda().cuEventSynchronize(theirs));
  EXPECT_EQ(read_word(memory.address + 8 * kTurns), 0x77U) << "the word that went all the way";
  peer.channel().send(true);
  FERRY_OK(cuda().cuEventDestroy_v2(theirs));
  EXPECT_EQ(close(descriptor), 0);
}

TEST_F(BetweenProcesses, OnlyEventsMadeForItHaveAHandle) {
  const EventOwner event;
  CUipcEventHandle passed{};
  EXPECT_NE(cuda().cuIpcGetEventHandle(&passed, event.handle), CUDA_SUCCESS);
}

}  // namespace
}  // namespace ferry::conformance
