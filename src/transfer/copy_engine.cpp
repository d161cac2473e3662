// SPDX-License-Identifier: Apache-2.0
#include "transfer/copy_engine.hpp"

#include <fmt/format.h>

#include "driver/outside_captures.hpp"

namespace ferry {

Result<std::unique_ptr<CopyEngine>> CopyEngine::create(Device& device, PinnedPool& pinned) {
  std::unique_ptr<CopyEngine> engine(new CopyEngine(device, pinned));
  const MutexLock lock(engine->mutex_);
  FERRY_TRY(engine->open_channels());
  return engine;
}

Status CopyEngine::open_channels() {
  for (Channel& channel : channels_) {
    const Result<StreamRef> stream = device_.create_stream();
    if (!stream) return stream.error();
    channel.stream = *stream;
    channel.staging = std::make_unique<StagingRing>(device_, pinned_, events_);
  }
  return {};
}

CopyEngine::~CopyEngine() {
  const OutsideCaptures outside(device_.driver());
  const MutexLock lock(mutex_);
  for (Channel& channel : channels_) {
    if (channel.staging == nullptr) continue;
    // At process exit the driver may be gone already, and the copies with it.
    static_cast<void>(device_.synchronize(channel.stream));
    channel.staging.reset();
    static_cast<void>(device_.destroy_stream(channel.stream));
  }
}

Result<Ticket, Failure> CopyEngine::submit(std::span<const CopyRequest> requests,
                                           const CopyOrder& after) {
  const Result<CopyPlan, Failure> plan =
      plan_copies(requests, [this](std::uint64_t address) { return device_.describe(address); });
  if (!plan) return plan.error();
  std::array<bool, kDirections> used{};
  for (const Fragment& fragment : plan->fragments)
    used[static_cast<std::size_t>(fragment.direction)] = true;
  const OutsideCaptures outside(device_.driver());
  const MutexLock lock(mutex_);
  const Result<std::vector<EventHandle>, Failure> recorded = record_on(after.streams);
  if (!recorded) return recorded.error();
  FERRY_TRY(order_after(used, *recorded, after.tickets));
  Status status;
  for (const Fragment& fragment : plan->fragments) {
    status = run(fragment);
    if (!status) break;
  }
  Result<std::vector<EventHandle>> events = mark(used);
  if (!status || !events) {
    // The caller gets no ticket to wait with.
    for (std::size_t i = 0; i < kDirections; ++i) {
      if (used[i] && !device_.synchronize(channels_[i].stream))
        static_cast<void>(device_.synchronize());
    }
    if (!events) return events.error();
    events_.give_back(*events);
    if (status.code() != Code::out_of_memory) return status;
    return Failure(status, pinned_.out_of_memory_report(Bytes{StagingRing::kBufferBytes}));
  }
  stats_.requests += requests.size();
  for (const CopyRequest& request : requests) stats_.requested_bytes += request.bytes;
  stats_.merged += plan->merged;
  stats_.dropped += plan->dropped;
  return Ticket(*this, std::move(events).value());
}

// An event on each of the streams, at the end of the work queued so far.
Result<std::vector<EventHandle>, Failure> CopyEngine::record_on(
    std::span<const StreamRef> streams) {
  std::vector<EventHandle> recorded;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    Status status = refuse_capturing(device_, streams[i]);
    if (status) {
      const Result<EventHandle> event = events_.record(streams[i]);
      if (event) {
        recorded.push_back(*event);
        continue;
      }
      status = event.error();
    }
    events_.give_back(recorded);
    return Failure(status, fmt::format("streams[{}] is {:#x}", i, streams[i].key()));
  }
  return recorded;
}

// Lets the channels wait for what the copies come after.
Status CopyEngine::order_after(const std::array<bool, kDirections>& used,
                               const std::vector<EventHandle>& recorded,
                               std::span<const Ticket* const> tickets) {
  Status status;
  std::vector<EventHandle> awaited = recorded;
  for (const Ticket* ticket : tickets)
    awaited.insert(awaited.end(), ticket->events().begin(), ticket->events().end());
  for (std::size_t i = 0; i < kDirections && status; ++i) {
    for (const EventHandle event : awaited) {
      if (used[i] && status) status = device_.wait(channels_[i].stream, event);
    }
  }
  // A wait holds what the event stood for; the event itself is free for other records.
  events_.give_back(recorded);
  return status;
}

Status CopyEngine::run(const Fragment& fragment) {
  Channel& channel = channels_[static_cast<std::size_t>(fragment.direction)];
  ++stats_.copies;
  stats_.copied_bytes += fragment.bytes;
  if (!fragment.staged) {
    FERRY_TRY(device_.copy(fragment.destination, fragment.source, fragment.bytes, channel.stream));
    return protect(fragment, channel.stream);
  }
  stats_.staged_bytes += fragment.bytes;
  return fragment.direction == Direction::to_device
             ? channel.staging->upload(fragment.destination, fragment.source, fragment.bytes,
                                       channel.stream)
             : channel.staging->download(fragment.destination, fragment.source, fragment.bytes,
                                         channel.stream);
}

// Keeps the pool from giving out again what the copy still uses. Memory that is not the pool's is
// the caller's to keep.
Status CopyEngine::protect(const Fragment& fragment, StreamRef stream) {
  if (fragment.direction == Direction::on_device) return {};
  const std::uint64_t host =
      fragment.direction == Direction::to_device ? fragment.source : fragment.destination;
  const Status recorded = pinned_.record_use(reinterpret_cast<const void*>(host), stream);
  return recorded.code() == Code::not_owned ? Status() : recorded;
}

Result<std::vector<EventHandle>> CopyEngine::mark(const std::array<bool, kDirections>& used) {
  std::vector<EventHandle> events;
  for (std::size_t i = 0; i < kDirections; ++i) {
    if (!used[i]) continue;
    const Result<EventHandle> event = events_.record(channels_[i].stream);
    if (!event) {
      events_.give_back(events);
      return event.error();
    }
    events.push_back(*event);
  }
  return events;
}

void CopyEngine::give_back(const std::vector<EventHandle>& events) {
  const MutexLock lock(mutex_);
  events_.give_back(events);
}

CopyEngineStats CopyEngine::stats() const {
  const MutexLock lock(mutex_);
  return stats_;
}

}  // namespace ferry
