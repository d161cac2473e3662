// SPDX-License-Identifier: Apache-2.0
#include "front/replay/replay_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "front/replay/stream_check.hpp"
#include "front/replay/timeline.hpp"
#include "front/replay/trace_streams.hpp"

namespace ferry::replay {

namespace {

constexpr std::uint64_t kProgressEvery = 1024;  // events

class Replay {
 public:
  Replay(const DeviceTrace& trace, ReplayedAllocator& allocator, const TraceStreams& streams,
         StreamCheck& check, const ReplayOptions& options)
      : trace_(trace),
        allocator_(allocator),
        streams_(streams),
        check_(check),
        options_(options),
        timeline_(trace.events.size()),
        addresses_(trace.blocks.size()),
        live_(trace.blocks.size()) {}

  ReplayOutcome run();

 private:
  // These answer whether the replay may go on; if not, outcome_ says why.
  bool pass();
  bool build_start_set();
  bool step(std::uint64_t event);
  bool free_the_rest();
  bool allocate(std::uint32_t block, StreamCheck::Moment when);
  bool free(std::uint32_t block, StreamRef stream, StreamCheck::Moment when);
  bool audit();
  bool fail(std::string error);
  bool fail_allocation(const Status& status, std::uint32_t block, StreamCheck::Moment when);

  void observe(std::uint32_t events_before);

  const DeviceTrace& trace_;
  ReplayedAllocator& allocator_;
  const TraceStreams& streams_;
  StreamCheck& check_;
  const ReplayOptions& options_;
  ReplayOutcome outcome_;
  Timeline timeline_;

  std::vector<DeviceAddress> addresses_;  // by block
  std::vector<bool> live_;                // by block
  Bytes live_bytes_;
  std::uint32_t number_ = 0;      // of the pass, from 1
  std::uint64_t calls_seen_ = 0;  // driver calls when reserved_ was read
  Bytes reserved_;
  Bytes most_reserved_;  // ever, when reserved_ was read
  Bytes pass_peak_;
};

ReplayOutcome Replay::run() {
  for (number_ = 1; number_ <= options_.passes; ++number_) {
    if (!pass()) break;
  }
  outcome_.completed = number_ > options_.passes;
  outcome_.peak_reserved = allocator_.reserved_peak();
  outcome_.timeline = timeline_.take_samples();
  outcome_.marks = timeline_.take_marks();
  return std::move(outcome_);
}

bool Replay::pass() {
  const CallTallies before = allocator_.tallies();
  calls_seen_ = before.total_calls();
  reserved_ = allocator_.reserved();
  most_reserved_ = allocator_.reserved_peak();
  pass_peak_ = reserved_;
  if (!build_start_set()) return false;
  for (std::uint64_t event = 0; event < trace_.events.size(); ++event) {
    if (options_.progress && event % kProgressEvery == 0) options_.progress(number_, event);
    if (!step(event)) return false;
  }
  if (!free_the_rest()) return false;
  if (std::string trouble = check_.finish(); !trouble.empty()) return fail(std::move(trouble));
  if (!audit()) return false;
  outcome_.passes.push_back(
      PassResult{.calls = allocator_.tallies().since(before), .peak_reserved = pass_peak_});
  return true;
}

bool Replay::build_start_set() {
  for (const std::uint32_t block : trace_.start) {
    if (!allocate(block, StreamCheck::kBefore)) return false;
  }
  observe(0);
  return true;
}

bool Replay::step(std::uint64_t index) {
  const TraceEvent& event = trace_.events[index];
  const bool done = event.kind == TraceEvent::Kind::allocate
                        ? allocate(event.block, index)
                        : free(event.block, streams_.of(event.stream), index);
  if (!done) return false;
  observe(static_cast<std::uint32_t>(index + 1));
  const bool due = options_.audit_every != 0 && (index + 1) % options_.audit_every == 0;
  return !due || audit();
}

bool Replay::free_the_rest() {
  for (std::uint32_t block = 0; block < trace_.blocks.size(); ++block) {
    if (!live_[block]) continue;
    if (!free(block, streams_.of(trace_.blocks[block].stream), StreamCheck::kAfter)) return false;
  }
  return true;
}

bool Replay::allocate(std::uint32_t block, StreamCheck::Moment when) {
  const TraceBlock& wanted = trace_.blocks[block];
  const StreamRef stream = streams_.of(wanted.stream);
  const Result<DeviceAddress> address = allocator_.allocate(wanted.bytes, stream);
  if (!address) return fail_allocation(address.error(), block, when);
  addresses_[block] = *address;
  live_[block] = true;
  live_bytes_ += wanted.bytes;
  std::string trouble = check_.allocated(block, *address, wanted.bytes, stream, when);
  return trouble.empty() || fail(std::move(trouble));
}

bool Replay::free(std::uint32_t block, StreamRef stream, StreamCheck::Moment when) {
  std::string trouble = check_.freeing(addresses_[block], stream, when);
  if (!trouble.empty()) return fail(std::move(trouble));
  const Status status = allocator_.free(addresses_[block], stream);
  if (!status) {
    return fail(fmt::format("block {} at {:#x} could not be freed: {}.", block,
                            addresses_[block].value, status.describe()));
  }
  live_[block] = false;
  live_bytes_ -= trace_.blocks[block].bytes;
  return true;
}

bool Replay::audit() {
  const Status status = allocator_.audit();
  return status.ok() || fail(fmt::format("the pool's books are wrong in pass {}: {}.", number_,
                                         status.describe()));
}

bool Replay::fail(std::string error) {
  outcome_.error = std::move(error);
  return false;
}

bool Replay::fail_allocation(const Status& status, std::uint32_t block, StreamCheck::Moment when) {
  const std::string where = when == StreamCheck::kBefore
                                ? "the start set"
                                : fmt::format("event {} of {}", when + 1, trace_.events.size());
  const std::string request =
      fmt::format("{} in pass {} asks for {} while {} are live", where, number_,
                  format_bytes(trace_.blocks[block].bytes), format_bytes(live_bytes_));
  outcome_.out_of_memory = status.code() == Code::out_of_memory;
  if (outcome_.out_of_memory) outcome_.refused = trace_.blocks[block].bytes;
  if (!outcome_.out_of_memory) return fail(fmt::format("{}: {}.", request, status.describe()));
  const std::string report = allocator_.out_of_memory_report();
  return fail(fmt::format("{}.\n{}", request, report.empty() ? status.describe() : report));
}

// The allocator's memory changes only by driver calls, and asking it for figures is slow. When
// memory is short it may hold more within a call than after it; that counts where it is the most
// ever held.
void Replay::observe(std::uint32_t events_before) {
  const std::uint64_t calls = allocator_.tallies().total_calls();
  const bool first = number_ == 1 && options_.record_timeline;
  Bytes held = reserved_;
  if (calls != calls_seen_) {
    const std::uint32_t served = events_before == 0 ? 0 : events_before - 1;
    if (first) timeline_.mark(served, calls - calls_seen_);
    calls_seen_ = calls;
    held = reserved_ = allocator_.reserved();
    if (const Bytes peak = allocator_.reserved_peak(); peak > most_reserved_) {
      held = most_reserved_ = peak;
    }
    pass_peak_ = std::max(pass_peak_, held);
  }
  if (first) timeline_.add(Sample{events_before, live_bytes_, held});
}

ReplayOutcome refused(const Status& status) {
  ReplayOutcome outcome;
  outcome.error =
      fmt::format("the replay's own streams and marks could not be set up: {}.", status.describe());
  return outcome;
}

}  // namespace

ReplayOutcome replay(const DeviceTrace& trace, ReplayedAllocator& allocator, Device& tool,
                     const ReplayOptions& options) {
  const Result<std::unique_ptr<TraceStreams>> streams = TraceStreams::open(tool, trace);
  if (!streams) return refused(streams.error());
  const Result<std::unique_ptr<StreamCheck>> check =
      StreamCheck::open(tool, {.several_streams = (*streams)->count() > 1, .marks = options.marks});
  if (!check) return refused(check.error());
  return Replay(trace, allocator, **streams, **check, options).run();
}

}  // namespace ferry::replay
