// SPDX-License-Identifier: Apache-2.0
// Shared events with the test in the part of the other process: it has the event's file open, and
// looks into it.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

#include "sim/machine/ipc_handle.hpp"
#include "sim/machine/shared_event.hpp"
#include "sim/sim_fixture.hpp"

namespace ferry::sim {

inline constexpr unsigned kShared = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;

inline std::shared_ptr<SharedEvent> behind(CUevent event) {
  CUipcEventHandle bytes{};
  EXPECT_EQ(cuIpcGetEventHandle(&bytes, event), CUDA_SUCCESS);
  const auto handle = read_ipc_handle(&bytes, SharedKind::event);
  return SharedEvent::open(SealedFile::open(handle->descriptor, SharedKind::event));
}

// An event of another process, opened here: the process only has the file open.
class Foreign {
 public:
  Foreign() : event(SharedEvent::create()) {
    process_ = fork();
    if (process_ == 0) {
      pause();
      _exit(0);
    }
    CUipcEventHandle bytes{};
    write_ipc_handle(
        {SharedKind::event, process_, event->file().descriptor(), event->file().id(), {}}, &bytes);
    EXPECT_EQ(cuIpcOpenEventHandle(&opened, bytes), CUDA_SUCCESS);
  }
  ~Foreign() {
    EXPECT_EQ(kill(process_, SIGKILL), 0);
    EXPECT_EQ(waitpid(process_, nullptr, 0), process_);
  }
  Foreign(const Foreign&) = delete;
  Foreign& operator=(const Foreign&) = delete;

  std::shared_ptr<SharedEvent> event;
  CUevent opened = nullptr;

 private:
  pid_t process_ = -1;
};

class EventAccessTest : public SimTest {
 protected:
  void SetUp() override { restart("schedule=lazy"); }

  // Whether the record is reached before long.
  static bool is_reached_soon(const SharedEvent& event, std::uint64_t record) {
    for (int i = 0; i < 2000 && !event.is_reached(record); ++i) usleep(1000);
    return event.is_reached(record);
  }
};

}  // namespace ferry::sim
