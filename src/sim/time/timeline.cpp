// SPDX-License-Identifier: Apache-2.0
#include "sim/time/timeline.hpp"

#include <algorithm>
#include <utility>

namespace ferry::sim {

Timeline::Timeline(std::shared_ptr<const Profile> profile) : profile_(std::move(profile)) {
  if (profile_) links_.emplace(*profile_);
}

// Unlinked one by one: a long chain of operations that never ended would otherwise be freed
// recursively.
Timeline::~Timeline() {
  std::vector<TimedTaskRef> pending;
  for (; !events_.empty(); events_.pop()) pending.push_back(events_.top().task);
  for (const auto& [number, task] : crossing_) pending.push_back(task);
  for (const auto& [name, engine] : engines_) {
    if (engine.busy_with) pending.push_back(engine.busy_with);
    pending.insert(pending.end(), engine.waiting.begin(), engine.waiting.end());
  }
  while (!pending.empty()) {
    const TimedTaskRef task = std::move(pending.back());
    pending.pop_back();
    const auto followers = std::exchange(task->followers, {});
    pending.insert(pending.end(), followers.begin(), followers.end());
  }
}

TimedTaskRef Timeline::add(const Load& load, std::span<const TimedTaskRef> after) {
  const auto task = std::make_shared<TimedTask>();
  task->number = next_number_++;
  task->load = load;
  task->ready = clock_.now();
  if (profile_) {
    advance(std::min(clock_.now(), horizon_));
    // Where this thread's clock is behind another's, what has happened cannot be changed any more.
    task->ready = std::max(task->ready, now_);
  }
  for (const TimedTaskRef& earlier : after) {
    if (!earlier) continue;
    if (earlier->ended) {
      task->ready = std::max(task->ready, earlier->end);
    } else {
      earlier->followers.push_back(task);
      ++task->waits_for;
    }
  }
  if (!profile_) {
    task->begin = task->ready;
    task->end = task->ready + kPicosecondsPerMicrosecond;
    task->ended = true;
  } else if (task->waits_for == 0) {
    events_.push({task->ready, task->number, task, false});
  }
  return task;
}

bool Timeline::has_passed(const TimedTask& task) {
  if (profile_) advance(std::min(clock_.now(), horizon_));
  return task.ended && task.end <= clock_.now();
}

void Timeline::wait(const TimedTask& task) {
  while (!task.ended) advance(*next_moment());
  clock_.reach(task.end);
}

std::optional<Picoseconds> Timeline::next_moment() const {
  std::optional<Picoseconds> next;
  if (!events_.empty()) next = events_.top().at;
  if (links_ && !links_->empty()) {
    Picoseconds change = links_->next_end();
    if (const auto border = pace_.next_border(now_)) change = std::min(change, *border);
    next = next ? std::min(*next, change) : change;
  }
  return next;
}

void Timeline::advance(Picoseconds moment) {
  for (auto next = next_moment(); next && *next <= moment; next = next_moment()) step(*next);
  now_ = std::max(now_, moment);
}

// Everything that happens at one moment; then the engines that are free take who is first.
void Timeline::step(Picoseconds moment) {
  const bool at_border = pace_.next_border(now_) == moment;
  now_ = moment;
  for (const std::uint64_t number : links_->take_ended(moment)) {
    const auto found = crossing_.find(number);
    const TimedTaskRef task = found->second;
    crossing_.erase(found);
    end(task);
  }
  if (at_border) repace_links(moment);
  while (!events_.empty() && events_.top().at <= moment) {
    const Event event = events_.top();
    events_.pop();
    handle(event);
  }
  begin_waiting();
}

void Timeline::set_engine_windows(std::vector<EngineWindow> windows) {
  pace_.set_windows(std::move(windows));
  if (links_) repace_links(now_);
}

void Timeline::repace_links(Picoseconds moment) {
  links_->repace(moment, [&](std::uint64_t number) {
    const Load& load = crossing_.at(number)->load;
    return pace_.slowdown(load.device, load.engine, moment);
  });
}

void Timeline::handle(const Event& event) {
  const TimedTaskRef& task = event.task;
  if (!event.is_end) {
    if (task->load.engine == EngineKind::none) {
      begin(task);
    } else {
      const EngineName name = engine_for(task->load);
      engines_[name].waiting.insert(task);
      stirred_.insert(name);
    }
  } else if (task->load.link && task->load.bytes > 0) {
    begin_bytes(task);
  } else {
    end(task);
  }
}

void Timeline::begin(const TimedTaskRef& task) {
  const Load& load = task->load;
  task->begin = now_;
  Picoseconds duration = load.latency;
  if (!load.link && load.bytes > 0) duration += time_for(work_of(load.bytes), load.rate);
  const Picoseconds until = pace_.end_of(load.device, load.engine, now_, duration);
  events_.push({until, task->number, task, true});
}

void Timeline::begin_bytes(const TimedTaskRef& task) {
  const Load& load = task->load;
  crossing_.emplace(task->number, task);
  LinkShare::Crossing crossing;
  crossing.id = task->number;
  crossing.device = load.device;
  crossing.direction = *load.link;
  crossing.limit = load.rate;
  crossing.slowdown = pace_.slowdown(load.device, load.engine, now_);
  crossing.left = work_of(load.bytes);
  links_->begin(now_, crossing);
}

void Timeline::end(const TimedTaskRef& task) {
  task->ended = true;
  task->end = now_;
  if (task->load.engine != EngineKind::none) {
    const EngineName name = engine_for(task->load);
    engines_[name].busy_with = nullptr;
    stirred_.insert(name);
  }
  for (const TimedTaskRef& follower : std::exchange(task->followers, {})) {
    follower->ready = std::max(follower->ready, now_);
    if (--follower->waits_for == 0)
      events_.push({follower->ready, follower->number, follower, false});
  }
}

void Timeline::begin_waiting() {
  for (const EngineName& name : std::exchange(stirred_, {})) {
    Engine& engine = engines_[name];
    if (engine.busy_with || engine.waiting.empty()) continue;
    const auto first = engine.waiting.begin();
    engine.busy_with = *first;
    engine.waiting.erase(first);
    begin(engine.busy_with);
  }
}

// A device with one copy engine has it for both directions, and only one with three has another for
// its peers.
Timeline::EngineName Timeline::engine_for(const Load& load) const {
  EngineKind kind = load.engine;
  const std::int64_t copy_engines = profile_->copy_engines.value;
  if (kind == EngineKind::peer && copy_engines < 3) kind = EngineKind::to_host;
  if (kind == EngineKind::to_host && copy_engines < 2) kind = EngineKind::to_device;
  return {load.device, kind};
}

}  // namespace ferry::sim
