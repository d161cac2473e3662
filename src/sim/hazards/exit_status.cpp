// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/exit_status.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace ferry::sim {

namespace {

HazardLog* g_log = nullptr;
pid_t g_process = 0;  // whose log it is: a child of fork has hazards of its own at most
int g_status = -1;    // with which the process called exit; -1 before it did

// Runs when this library is finalised, which is after the program's own handlers and destructors.
__attribute__((destructor)) void end() {
  if (g_log == nullptr || g_process != getpid()) return;
  g_log->say_repeats();
  if (g_status != 0 || g_log->untaken() == 0) return;
  std::fflush(nullptr);
  _exit(HazardLog::kExitStatus);
}

}  // namespace

void watch_exit_status(HazardLog& log) {
  g_log = &log;
  g_process = getpid();
  // The one handler that is told the status; it is too early to replace it there.
  on_exit([](int status, void*) { g_status = status; }, nullptr);
}

}  // namespace ferry::sim
