// SPDX-License-Identifier: Apache-2.0
#include "sim/words/program_threads.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace ferry::sim {

namespace {

namespace fs = std::filesystem;

// Calls of the system that end when another thread or process does something.
constexpr long kWaits[] = {
    SYS_futex, SYS_read,     SYS_readv,           SYS_recvfrom, SYS_recvmsg,
    SYS_ppoll, SYS_pselect6, SYS_epoll_pwait,     SYS_accept,   SYS_accept4,
    SYS_wait4, SYS_waitid,   SYS_rt_sigtimedwait,
#ifdef SYS_poll
    SYS_poll,  SYS_select,   SYS_epoll_wait,
#endif
};

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The letter after the name of the program, which may hold anything.
char state_of(std::string_view stat) {
  const std::size_t name_end = stat.rfind(") ");
  return name_end == std::string_view::npos || name_end + 2 >= stat.size() ? '?'
                                                                           : stat[name_end + 2];
}

}  // namespace

ThreadActivity activity_of(std::string_view stat, std::string_view syscall) {
  const char state = state_of(stat);
  if (state == 'Z' || state == 'X') return ThreadActivity::gone;
  long number = -1;
  const auto read = std::from_chars(syscall.data(), syscall.data() + syscall.size(), number);
  const bool waits = state == 'S' && read.ec == std::errc() &&
                     std::ranges::find(kWaits, number) != std::end(kWaits);
  return waits ? ThreadActivity::waits : ThreadActivity::busy;
}

bool others_all_wait() {
  const std::string caller = std::to_string(syscall(SYS_gettid));
  std::error_code error;
  fs::directory_iterator thread("/proc/self/task", error);
  for (; !error && thread != fs::directory_iterator(); thread.increment(error)) {
    const fs::path& folder = thread->path();
    if (folder.filename() == caller) continue;
    const std::string stat = text_of(folder / "stat");
    if (stat.empty()) continue;  // it has ended meanwhile
    if (activity_of(stat, text_of(folder / "syscall")) == ThreadActivity::busy) return false;
  }
  return !error;
}

}  // namespace ferry::sim
