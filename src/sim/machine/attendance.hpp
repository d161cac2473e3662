// SPDX-License-Identifier: Apache-2.0
// When queued work goes on although the program calls nothing. Work runs inside the program's own
// calls, which is late enough to show what it forgot to wait for; but a program may wait for a host
// function, or for a word that a copy writes, without calling the driver, and on a device the work
// comes to its end meanwhile. Two signs of that, the second one late, since a program may as well
// be busy with something else:
// - host functions are queued, and all threads of the program wait;
// - the program has called nothing for seconds.
// Plain value.
#pragma once

#include <chrono>
#include <cstdint>

namespace ferry::sim {

class Attendance {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds kSilent{50};
  static constexpr std::chrono::milliseconds kLongSilent{2000};
  static constexpr int kLooks = 3;  // in a row that found the threads waiting

  enum class Verdict {
    leave,
    run_host_code,
    run_any,
  };

  // To be asked every few milliseconds. `calls`: how many the program has made so far.
  template <typename AllWait>
  [[nodiscard]] Verdict look(Moment now, std::uint64_t calls, bool host_code_waits,
                             AllWait&& all_wait) {
    if (calls != calls_) {
      calls_ = calls;
      silent_since_ = now;
      waiting_looks_ = 0;
    }
    const auto silence = now - silent_since_;
    if (silence >= kLongSilent) return Verdict::run_any;
    if (silence < kSilent || !host_code_waits || !all_wait()) {
      waiting_looks_ = 0;
      return Verdict::leave;
    }
    if (++waiting_looks_ < kLooks) return Verdict::leave;
    waiting_looks_ = 0;
    return Verdict::run_host_code;
  }

 private:
  std::uint64_t calls_ = UINT64_MAX;
  Moment silent_since_;
  int waiting_looks_ = 0;
};

}  // namespace ferry::sim
