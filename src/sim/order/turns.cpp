// SPDX-License-Identifier: Apache-2.0
#include "sim/order/turns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <limits>

namespace ferry::sim {

namespace {

constexpr std::chrono::seconds kPatience{5};
constexpr Picoseconds kNever = std::numeric_limits<Picoseconds>::max();

std::uint64_t next_era() {
  static std::atomic<std::uint64_t> eras{0};
  return ++eras;
}

// Has no destructor, so it is there for as long as its thread is.
struct Place {
  std::uint64_t era = 0;  // 0: takes part nowhere
  std::uint64_t number = 0;
};
thread_local Place place;

}  // namespace

Turns::Turns(Timeline& timeline)
    : Turns(timeline, kPatience,
            [](const std::string& text) { fmt::print(stderr, "ferry-sim: threads: {}\n", text); }) {
}

Turns::Turns(Timeline& timeline, std::chrono::milliseconds patience, Complain complain)
    : timeline_(timeline), patience_(patience), complain_(std::move(complain)), era_(next_era()) {}

Turns::Member* Turns::mine() {
  if (place.era != era_) return nullptr;
  const auto found = members_.find(place.number);
  return found == members_.end() ? nullptr : &found->second;
}

bool Turns::has_turn(const Member* member) const {
  return member != nullptr && holder_ == place.number && member->state == State::here;
}

bool Turns::anybody_has_begun() const {
  return std::ranges::any_of(
      members_, [](const auto& member) { return member.second.state != State::expected; });
}

bool Turns::expect(std::uint64_t number) {
  if (!on_ || members_.contains(number)) return false;
  const Member* const caller = mine();
  if (caller == nullptr ? anybody_has_begun() : !has_turn(caller)) return false;
  follow_last_round();
  members_[number].at = timeline_.clock().now();
  return true;
}

bool Turns::begin(Lock& lock, std::uint64_t number) {
  const auto found = members_.find(number);
  if (found == members_.end() || found->second.state != State::expected || mine() != nullptr)
    return false;
  place = {era_, number};
  found->second.state = State::here;
  timeline_.clock().begin_at(found->second.at);
  if (!holder_) hand_over();
  await_turn(lock, number);
  return true;
}

bool Turns::end() {
  if (mine() == nullptr) return false;
  const bool was_its_turn = holder_ == place.number;
  members_.erase(place.number);
  place = {};
  if (was_its_turn) hand_over();
  return true;
}

bool Turns::pause() {
  Member* const member = mine();
  if (!has_turn(member)) return false;
  member->state = State::outside;
  member->at = timeline_.clock().now();
  hand_over();
  return true;
}

bool Turns::wake(std::uint64_t number) {
  const auto found = members_.find(number);
  if (!has_turn(mine()) || found == members_.end()) return false;
  Member& member = found->second;
  if (member.state != State::outside) return true;
  // The others wait for it from now on, however long its thread takes to come back.
  member.state = State::woken;
  member.at = std::max(member.at, timeline_.clock().now());
  return true;
}

bool Turns::resume(Lock& lock) {
  Member* const member = mine();
  if (member == nullptr || member->state == State::here) return false;
  if (member->state == State::outside) member->at = std::max(member->at, now_);
  member->state = State::here;
  if (!holder_) hand_over();
  await_turn(lock, place.number);
  timeline_.clock().reach(member->at);
  return true;
}

void Turns::follow_last_round() {
  if (members_.empty()) timeline_.clock().reach(now_);
}

bool Turns::may_call() {
  if (!on_) return true;
  if (const Member* const member = mine()) return has_turn(member);
  follow_last_round();
  return members_.empty();
}

void Turns::complain_of_outsider(std::string_view function) {
  if (complained_of_outsider_) return;
  complained_of_outsider_ = true;
  complain_(fmt::format("{} is refused: {} (further ones are refused without a word)", function,
                        mine() == nullptr ? "other threads take turns, and this one does not take "
                                            "part: ferry_sim_thread_expect, ferry_sim_thread_begin"
                                          : "the thread has stepped out of the round, and not come "
                                            "back: ferry_sim_thread_resume"));
}

void Turns::reach(Lock& lock, Picoseconds moment) {
  Member* const member = mine();
  if (!has_turn(member)) return;
  member->at = moment;
  hand_over();
  await_turn(lock, place.number);
}

void Turns::wait(Lock& lock, const TimedTask& task) {
  if (!has_turn(mine())) {
    timeline_.wait(task);
    return;
  }
  // What happens next may change while others have their turns.
  while (!task.ended) {
    const Picoseconds next = *timeline_.next_moment();
    const std::uint64_t turn = turns_;
    reach(lock, std::max(next, timeline_.clock().now()));
    if (turns_ == turn + 1) timeline_.advance(next);
  }
  timeline_.clock().reach(task.end);
}

bool Turns::let_others_go_on(Lock& lock) {
  if (!has_turn(mine())) return false;
  timeline_.clock().spend(timeline_.profile()->query.value);
  catch_up(lock);
  return std::ranges::any_of(members_, [](const auto& member) {
    return member.first != place.number && member.second.state != State::outside;
  });
}

// The thread that comes first has the next turn, whether it has come or not.
void Turns::hand_over() {
  holder_.reset();
  const Member* first = nullptr;
  for (const auto& [number, member] : members_) {
    if (member.state == State::outside || (first != nullptr && first->at <= member.at)) continue;
    first = &member;
    holder_ = number;
  }
  ++turns_;
  if (first != nullptr) now_ = std::max(now_, first->at);
  timeline_.set_horizon(first == nullptr ? kNever : first->at);
  passed_on_.notify_all();
}

void Turns::await_turn(Lock& lock, std::uint64_t number) {
  while (holder_ != number) {
    const std::uint64_t turn = turns_;
    if (passed_on_.wait_for(lock, patience_) == std::cv_status::timeout && turns_ == turn)
      complain_of_holder(number);
  }
}

void Turns::complain_of_holder(std::uint64_t waiting) {
  if (!holder_ || complained_at_ == turns_) return;
  complained_at_ = turns_;
  const bool is_here = members_.at(*holder_).state == State::here;
  complain_(fmt::format(
      "it has been thread {0}'s turn for {1} ms, and thread {2} waits for it: {3}", *holder_,
      patience_.count(), waiting,
      is_here ? "it is busy, has ended without ferry_sim_thread_end, or waits for another thread "
                "without ferry_sim_thread_pause"
              : "it has not come to ferry_sim_thread_begin or ferry_sim_thread_resume"));
}

}  // namespace ferry::sim
