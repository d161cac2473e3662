// SPDX-License-Identifier: Apache-2.0
// The taking of turns (threads=turns): of the threads of the program that have joined the round,
// one at a time goes on, the one whose virtual clock is the smallest; by number where two are
// alike. A turn lasts from one step of the thread's clock to the next, the program's own code
// between calls included, so that everything that the threads do to each other happens in the order
// of virtual time, whatever the system's scheduler does.
//
// Who takes part is announced before it begins, and who is woken is said by who wakes it: a thread
// that is late in real time keeps the others waiting, and never loses its place. A thread that
// waits for something outside the driver steps out of the round meanwhile. Where it does not, the
// round stands still; that is said on standard error after a while.
//
// Owned by the stream engine. Every function requires the library's lock, is about the calling
// thread, and where it takes the lock releases it until the thread's turn has come.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "sim/time/timeline.hpp"

namespace ferry::sim {

class Turns {
 public:
  using Lock = std::unique_lock<std::mutex>;
  using Complain = std::function<void(const std::string&)>;

  explicit Turns(Timeline& timeline);
  Turns(Timeline& timeline, std::chrono::milliseconds patience, Complain complain);

  void set_on(bool on) { on_ = on; }

  // A thread with this number will begin, where the caller's clock is now. It has a place from now
  // on. False where the number has one already, or the caller does not take part and somebody has
  // begun: when that happens would depend on the scheduler.
  [[nodiscard]] bool expect(std::uint64_t number);
  // The caller is the thread that was expected under this number.
  [[nodiscard]] bool begin(Lock& lock, std::uint64_t number);
  // The caller takes part no longer.
  [[nodiscard]] bool end();

  // The caller steps out, to wait for another thread outside the driver.
  [[nodiscard]] bool pause();
  // A thread that has stepped out has its place again, not before the caller's clock. True also
  // where it had not stepped out.
  [[nodiscard]] bool wake(std::uint64_t number);
  // The caller has stepped out and goes on: where it was woken, or, if nobody did, where the round
  // is.
  [[nodiscard]] bool resume(Lock& lock);

  // Where nobody takes part, the caller's clock goes on from where the last round ended.
  void follow_last_round();

  // Whether the caller may use the driver now: it takes part and has not stepped out, or nobody
  // takes part; then it follows the last round.
  [[nodiscard]] bool may_call();

  // Whether one of the threads that take part is to go on next. Nobody is where none takes part, or
  // all have stepped out: then nothing changes in virtual time.
  [[nodiscard]] bool somebody_has_turn() const { return holder_.has_value(); }

  // Says once that a thread which may not call has called.
  void complain_of_outsider(std::string_view function);

  // The caller's clock will be, or is, at this moment: waits until nobody comes before it. No
  // effect for a thread that does not take part.
  void reach(Lock& lock, Picoseconds moment);
  void catch_up(Lock& lock) { reach(lock, timeline_.clock().now()); }

  // Waits for the end of an operation in virtual time; other threads have their turns meanwhile.
  void wait(Lock& lock, const TimedTask& task);

  // What the caller waits for does not follow from time: its clock moves by a query's cost, and the
  // others have their turns. False where there are none to let go on.
  [[nodiscard]] bool let_others_go_on(Lock& lock);

 private:
  enum class State : std::uint8_t {
    expected,  // has its place, and has not come yet
    here,
    outside,  // has stepped out: has no turns
    woken,    // has its place again, and has not come back yet
  };
  struct Member {
    Picoseconds at = 0;  // its clock does not go on before
    State state = State::expected;
  };
  using Members = std::map<std::uint64_t, Member>;

  // The caller's place; null where it has none.
  [[nodiscard]] Member* mine();
  [[nodiscard]] bool has_turn(const Member* member) const;
  [[nodiscard]] bool anybody_has_begun() const;
  void hand_over();
  void await_turn(Lock& lock, std::uint64_t number);
  void complain_of_holder(std::uint64_t waiting);

  Timeline& timeline_;
  const std::chrono::milliseconds patience_;
  const Complain complain_;
  const std::uint64_t era_;  // tells threads that joined an earlier machine's round
  bool on_ = false;
  Members members_;
  std::optional<std::uint64_t> holder_;  // whose turn it is
  std::uint64_t turns_ = 0;              // so far
  std::uint64_t complained_at_ = 0;      // the turn that was last complained of
  bool complained_of_outsider_ = false;
  Picoseconds now_ = 0;  // how far turns have come
  std::condition_variable passed_on_;
};

}  // namespace ferry::sim
