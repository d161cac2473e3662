// SPDX-License-Identifier: Apache-2.0
#include "sim/order/stream_fibers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <thread>

namespace ferry::sim {

namespace {

constexpr LaneNumber kNone = std::numeric_limits<LaneNumber>::max();

}  // namespace

StreamFibers::~StreamFibers() {
  for (void* const fiber : fibers_) {
    if (fiber != nullptr) sanitizer_->destroy_fiber(fiber);
  }
}

void StreamFibers::note_queued(Operation& operation) {
  if (!is_on()) return;
  void* const token = &operation;
  say_by_thread(sanitizer_->release, std::span(&token, 1));
}

void StreamFibers::note_seen(const Clock& clock) {
  if (!is_on()) return;
  say_by_thread(sanitizer_->acquire, tokens_of(clock, kNone));
}

// The thread is quiet, which these calls must not be.
void StreamFibers::say_by_thread(void (*say)(void*), std::span<void* const> tokens) {
  sanitizer_->heed_order(__FILE__, __LINE__);
  for (void* const token : tokens) say(token);
  sanitizer_->ignore_order(__FILE__, __LINE__);
}

StreamFibers::Token StreamFibers::take_turn(Operation& operation, bool skipped) {
  if (!is_on()) return nullptr;
  // What it wrote stays the lane's; the lane's own earlier work is the fiber's past.
  const Token token = std::make_shared<char>();
  std::vector<void*> acquired = tokens_of(operation.clock, operation.lane);
  acquired.push_back(&operation);
  std::vector<void*> released{token.get()};
  FiberStep step;
  const auto noted = uses_.extract(&operation);
  if (!noted.empty() && !skipped) {
    const HostUse& use = noted.mapped();
    step.site = use.site;
    step.accesses = use.accesses.data();
    step.access_count = use.accesses.size();
    void* const word = reinterpret_cast<void*>(use.word.address);
    if (use.word.waits) acquired.push_back(word);
    if (use.word.writes) released.push_back(word);
  }
  step.acquired = acquired.data();
  step.acquired_count = acquired.size();
  step.released = released.data();
  step.released_count = released.size();
  void* const fiber = fiber_of(operation.lane);
  const std::string name = fmt::format("stream {} of the stand-in", operation.stream->number);
  sanitizer_->set_fiber_name(fiber, name.c_str());
  take_step(*sanitizer_, fiber, step);
  if (ends_.size() <= operation.lane) ends_.resize(operation.lane + std::size_t{1});
  std::deque<End>& ends = ends_[operation.lane];
  ends.push_back({operation.count, token});
  if (ends.size() > kMostEnds) ends.pop_front();
  return token;
}

void StreamFibers::run_host_code(std::unique_lock<std::mutex>& lock, const Operation& operation,
                                 const Token& turn) {
  lock.unlock();
  if (turn == nullptr) {
    static_cast<void>(operation.work());
  } else {
    std::thread([used = sanitizer_, token = turn.get(), work = &operation.work] {
      used->acquire(token);
      static_cast<void>((*work)());
      used->release(token);
    }).join();
  }
  lock.lock();
  if (turn == nullptr) return;
  // The stream goes on after what its host code has done.
  void* const done = turn.get();
  FiberStep step;
  step.acquired = &done;
  step.acquired_count = 1;
  take_step(*sanitizer_, fiber_of(operation.lane), step);
}

void* StreamFibers::fiber_of(LaneNumber lane) {
  const std::size_t index = lane % kMostFibers;
  if (fibers_.size() <= index) fibers_.resize(index + 1);
  if (fibers_[index] == nullptr) fibers_[index] = sanitizer_->create_fiber(0);
  return fibers_[index];
}

std::vector<void*> StreamFibers::tokens_of(const Clock& clock, LaneNumber except) const {
  std::vector<void*> tokens;
  for (LaneNumber lane = 0; lane < ends_.size(); ++lane) {
    const std::uint64_t count = clock.of(lane);
    if (count == 0 || lane == except) continue;
    const std::deque<End>& ends = ends_[lane];
    const auto end = std::lower_bound(
        ends.begin(), ends.end(), count,
        [](const End& earlier, std::uint64_t wanted) { return earlier.count < wanted; });
    if (end != ends.end()) tokens.push_back(end->token.get());
  }
  return tokens;
}

}  // namespace ferry::sim
