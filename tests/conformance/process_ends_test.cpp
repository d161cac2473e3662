// SPDX-License-Identifier: Apache-2.0
// The end of a process that has recorded a shared event, with work before it that may not have run:
// completed or dropped, nobody waits for ever. A process that ends leaves no context behind either.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "conformance/between_processes.hpp"

namespace ferry::conformance {
namespace {

enum class End : int { returns, exits, leaves_at_once, is_killed, runs_another };
enum class Exporter : int { recorder, waiter };
enum class Waiting : int { host, stream, query };

constexpr std::size_t kBytes = 1 * kMiB;

// The program that takes the place of a recorder: it knows nothing of it.
const RegisterRole g_another("another program", [](const Channel& test) {
  test.send(true);
  EXPECT_TRUE(test.receive<bool>());
});

// Ends with the work queued: the context is never given back.
void end_as(End end, int socket) {
  switch (end) {
    case End::returns:
      return;
    case End::exits:
      std::exit(0);
    case End::leaves_at_once:
      _exit(0);
    case End::is_killed:
      while (true) pause();
    case End::runs_another:
      execl("/proc/self/exe", "ferry_conformance", "--role", "another program",
            std::to_string(socket).c_str(), nullptr);
      _exit(127);
  }
}

const RegisterRole g_record_and_end("record and end", [](const Channel& test) {
  static const auto* const context = new RoleContext;  // not released, but no leak either
  const auto end = test.receive<End>();
  CUevent event = nullptr;
  if (test.receive<Exporter>() == Exporter::recorder) {
    CUipcEventHandle passed{};
    EXPECT_EQ(cuda().cuEventCreate(&event, kShared), CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuIpcGetEventHandle(&passed, event), CUDA_SUCCESS);
    test.send(passed);
    EXPECT_TRUE(test.receive<bool>()) << "it is opened";
  } else {
    EXPECT_EQ(cuda().cuIpcOpenEventHandle(&event, test.receive<CUipcEventHandle>()), CUDA_SUCCESS);
  }
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  EXPECT_EQ(cuda().cuMemAlloc_v2(&memory, kBytes), CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuMemsetD8Async(memory, 1, kBytes, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuEventRecord(event, stream), CUDA_SUCCESS);
  test.send(context != nullptr);
  end_as(end, test.socket());
});

struct Case {
  End end;
  Exporter exporter;
  Waiting waiting;
};

class ProcessEnds : public WithSharedEvents, public testing::WithParamInterface<Case> {
 protected:
  void TearDown() override {
    if (event_ != nullptr) {
      EXPECT_EQ(cuda().cuEventDestroy_v2(event_), CUDA_SUCCESS);
    }
    WithContext::TearDown();
  }
  // The event of both, recorded by the other process.
  void record_in(const PeerProcess& peer, End end, Exporter exporter) {
    peer.channel().send(end);
    peer.channel().send(exporter);
    if (exporter == Exporter::recorder) {
      FERRY_OK(cuda().cuIpcOpenEventHandle(&event_, peer.channel().receive<CUipcEventHandle>()));
      peer.channel().send(true);
    } else {
      CUipcEventHandle passed{};
      FERRY_OK(cuda().cuEventCreate(&event_, kShared));
      FERRY_OK(cuda().cuIpcGetEventHandle(&passed, event_));
      peer.channel().send(passed);
    }
    EXPECT_TRUE(peer.channel().receive<bool>());
  }
  void wait_by(Waiting waiting) {
    const StreamOwner stream;
    switch (waiting) {
      case Waiting::host:
        FERRY_OK(cuda().cuEventSynchronize(event_));
        break;
      case Waiting::stream:
        FERRY_OK(cuda().cuStreamWaitEvent(stream.handle, event_, 0));
        FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
        break;
      case Waiting::query:
        while (cuda().cuEventQuery(event_) == CUDA_ERROR_NOT_READY) usleep(100);
    }
    FERRY_OK(cuda().cuEventQuery(event_));
  }

  CUevent event_ = nullptr;
};

TEST_P(ProcessEnds, NobodyWaitsForEver) {
  auto peer = std::make_unique<PeerProcess>("record and end");
  record_in(*peer, GetParam().end, GetParam().exporter);
  if (GetParam().end == End::runs_another) {
    EXPECT_TRUE(peer->channel().receive<bool>()) << "the process lives on as another program";
    wait_by(GetParam().waiting);
    peer->channel().send(true);
    return;
  }
  if (GetParam().end == End::is_killed) peer->kill();
  peer.reset();
  wait_by(GetParam().waiting);
}

class StoppedProcess : public ProcessEnds {};

// Nothing runs in a process that is stopped; its end comes while it is waited for.
TEST_P(StoppedProcess, TheWaitEndsWithIt) {
  PeerProcess peer("record and end");
  record_in(peer, GetParam().end, GetParam().exporter);
  EXPECT_EQ(::kill(peer.id(), SIGSTOP), 0);
  std::thread later([&] {
    usleep(20'000);
    peer.kill();
  });
  wait_by(GetParam().waiting);
  later.join();
}

std::vector<Case> cases_of(const std::vector<End>& ends) {
  std::vector<Case> all;
  for (const End end : ends) {
    for (const Exporter exporter : {Exporter::recorder, Exporter::waiter}) {
      for (const Waiting waiting : {Waiting::host, Waiting::stream, Waiting::query})
        all.push_back({end, exporter, waiting});
    }
  }
  return all;
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  constexpr const char* kEnds[] = {"Returns", "Exits", "LeavesAtOnce", "IsKilled", "RunsAnother"};
  constexpr const char* kExporters[] = {"ItsEvent", "OurEvent"};
  constexpr const char* kWaits[] = {"Host", "Stream", "Query"};
  return std::string(kEnds[static_cast<int>(info.param.end)]) +
         kExporters[static_cast<int>(info.param.exporter)] +
         kWaits[static_cast<int>(info.param.waiting)];
}

INSTANTIATE_TEST_SUITE_P(Ways, ProcessEnds,
                         testing::ValuesIn(cases_of({End::returns, End::exits, End::leaves_at_once,
                                                     End::is_killed, End::runs_another})),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Ways, StoppedProcess, testing::ValuesIn(cases_of({End::is_killed})),
                         name_of);

}  // namespace
}  // namespace ferry::conformance
