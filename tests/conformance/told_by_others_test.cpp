// SPDX-License-Identifier: Apache-2.0
// A process that hears from another one that its work is complete, by a socket, and uses the memory
// with no wait of its own: that is right, and no checker may complain of it.
#include <unistd.h>

#include <string>

#include "conformance/between_processes.hpp"

namespace ferry::conformance {
namespace {

constexpr std::size_t kBytes = 64 * 1024;

// How the other process sees it.
enum class Sight : int { host, query, stream, host_function, copy };

struct Work {
  Work() : results(kBytes) {}

  void queue(CUevent event) {
    EXPECT_EQ(cuda().cuMemAlloc_v2(&memory, kBytes), CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuMemsetD8Async(memory, 0x5A, kBytes, stream.handle), CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuMemcpyDtoHAsync_v2(results.pointer, memory, kBytes, stream.handle),
              CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuEventRecord(event, stream.handle), CUDA_SUCCESS);
  }
  // All that may be done with memory that nothing uses any more.
  void use() {
    const StreamOwner other;  // the thread sanitizer learns of other processes by a call
    EXPECT_TRUE(results.holds(0x5A));
    EXPECT_EQ(cuda().cuMemcpyHtoDAsync_v2(memory, results.pointer, kBytes, other.handle),
              CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuMemsetD8Async(memory, 1, kBytes, other.handle), CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuMemcpyDtoHAsync_v2(results.pointer, memory, kBytes, other.handle),
              CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuStreamSynchronize(other.handle), CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuMemFree_v2(memory), CUDA_SUCCESS);
  }

  CUdeviceptr memory = 0;
  StreamOwner stream;
  PinnedBuffer results;
};

void CUDA_CB tell(void* other) {
  static_cast<const Channel*>(other)->send(true);
}

void see(CUevent event, Sight sight, const Channel& other) {
  const StreamOwner stream;
  if (sight != Sight::host && sight != Sight::query) {
    EXPECT_EQ(cuda().cuStreamWaitEvent(stream.handle, event, 0), CUDA_SUCCESS);
  }
  switch (sight) {
    case Sight::host:
      EXPECT_EQ(cuda().cuEventSynchronize(event), CUDA_SUCCESS);
      break;
    case Sight::query:
      while (cuda().cuEventQuery(event) == CUDA_ERROR_NOT_READY) usleep(100);
      break;
    case Sight::stream:
      EXPECT_EQ(cuda().cuStreamSynchronize(stream.handle), CUDA_SUCCESS);
      break;
    case Sight::host_function: {
      // It is told before the call that waits for it returns.
      auto* const channel = const_cast<Channel*>(&other);
      EXPECT_EQ(cuda().cuLaunchHostFunc(stream.handle, tell, channel), CUDA_SUCCESS);
      EXPECT_EQ(cuda().cuStreamSynchronize(stream.handle), CUDA_SUCCESS);
      return;
    }
    case Sight::copy: {
      const DeviceBuffer word(4);
      const StreamOwner second;
      const EventOwner after;
      unsigned read = 0;
      EXPECT_EQ(cuda().cuEventRecord(after.handle, stream.handle), CUDA_SUCCESS);
      EXPECT_EQ(cuda().cuStreamWaitEvent(second.handle, after.handle, 0), CUDA_SUCCESS);
      EXPECT_EQ(cuda().cuMemsetD32Async(word.address, 7, 1, second.handle), CUDA_SUCCESS);
      EXPECT_EQ(cuda().cuMemcpyDtoHAsync_v2(&read, word.address, 4, second.handle), CUDA_SUCCESS);
      EXPECT_EQ(cuda().cuStreamSynchronize(second.handle), CUDA_SUCCESS);
    }
  }
  other.send(true);
}

CUevent open(const Channel& other) {
  CUevent event = nullptr;
  EXPECT_EQ(cuda().cuIpcOpenEventHandle(&event, other.receive<CUipcEventHandle>()), CUDA_SUCCESS);
  return event;
}

CUipcEventHandle handle_of(CUevent event) {
  CUipcEventHandle passed{};
  EXPECT_EQ(cuda().cuIpcGetEventHandle(&passed, event), CUDA_SUCCESS);
  return passed;
}

class ToldByOthers : public WithSharedEvents, public testing::WithParamInterface<Sight> {};

const RegisterRole g_see("see and tell", [](const Channel& test) {
  const RoleContext context;
  const auto sight = test.receive<Sight>();
  const CUevent event = open(test);
  while (test.receive<bool>()) see(event, sight, test);
  EXPECT_EQ(cuda().cuEventDestroy_v2(event), CUDA_SUCCESS);
});

TEST_P(ToldByOthers, TheOneWhoMadeTheEvent) {
  const EventOwner event(kShared);
  const PeerProcess peer("see and tell");
  peer.channel().send(GetParam());
  peer.channel().send(handle_of(event.handle));
  for (int turn = 0; turn < 3; ++turn) {
    Work work;
    work.queue(event.handle);
    peer.channel().send(true);
    EXPECT_TRUE(peer.channel().receive<bool>());
    work.use();
  }
  peer.channel().send(false);
}

const RegisterRole g_work("work and be told", [](const Channel& test) {
  const RoleContext context;
  const CUevent event = open(test);
  {
    Work work;
    work.queue(event);
    test.send(true);
    EXPECT_TRUE(test.receive<bool>());
    work.use();
  }
  EXPECT_EQ(cuda().cuEventDestroy_v2(event), CUDA_SUCCESS);
});

TEST_P(ToldByOthers, TheOneWhoOpenedIt) {
  const EventOwner event(kShared);
  const PeerProcess peer("work and be told");
  peer.channel().send(handle_of(event.handle));
  EXPECT_TRUE(peer.channel().receive<bool>());
  see(event.handle, GetParam(), peer.channel());
}

const RegisterRole g_pass_on("pass on in a stream", [](const Channel& test) {
  const RoleContext context;
  const CUevent earlier = open(test);
  {
    const EventOwner later(kShared);
    const StreamOwner stream;
    const DeviceBuffer memory(64);
    test.send(handle_of(later.handle));
    EXPECT_TRUE(test.receive<bool>());
    EXPECT_EQ(cuda().cuStreamWaitEvent(stream.handle, earlier, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuMemsetD8Async(memory.address, 1, 64, stream.handle), CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuEventRecord(later.handle, stream.handle), CUDA_SUCCESS);
    test.send(true);
    EXPECT_TRUE(test.receive<bool>()) << "the other one has seen it";
    EXPECT_EQ(cuda().cuStreamSynchronize(stream.handle), CUDA_SUCCESS);
  }
  EXPECT_EQ(cuda().cuEventDestroy_v2(earlier), CUDA_SUCCESS);
});

// From here to the second, whose host sees nothing, to the third, who tells.
TEST_P(ToldByOthers, ByOneWhoWaitedForAnother) {
  const EventOwner event(kShared);
  const PeerProcess second("pass on in a stream");
  const PeerProcess third("see and tell");
  second.channel().send(handle_of(event.handle));
  third.channel().send(GetParam());
  third.channel().send(second.channel().receive<CUipcEventHandle>());
  Work work;
  work.queue(event.handle);
  second.channel().send(true);
  EXPECT_TRUE(second.channel().receive<bool>());
  third.channel().send(true);
  EXPECT_TRUE(third.channel().receive<bool>());
  work.use();
  third.channel().send(false);
  second.channel().send(true);
}

std::string name_of(const testing::TestParamInfo<Sight>& info) {
  constexpr const char* kNames[] = {"Host", "Query", "Stream", "HostFunction", "Copy"};
  return kNames[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Sights, ToldByOthers,
                         testing::Values(Sight::host, Sight::query, Sight::stream,
                                         Sight::host_function, Sight::copy),
                         name_of);

}  // namespace
}  // namespace ferry::conformance
