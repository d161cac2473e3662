// SPDX-License-Identifier: Apache-2.0
// Snapshots of a made-up allocator whose whole history is known: whatever part of it the history
// buffer has kept, the reader must find the same blocks at the start, the same calls and the same
// peak.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "front/traces/snapshot_reader.hpp"
#include "front/traces/snapshot_samples.hpp"
#include "front/traces/trace_check.hpp"

namespace ferry::replay {
namespace {

using testing::block;
using testing::entry;
using testing::kSampleBase;
using testing::Py;
using testing::segment;

// One block a slot; a free may be done at once or later, as after use on another stream.
class Recorder {
 public:
  explicit Recorder(std::uint64_t seed) : random_(seed) {}

  struct Entry {
    enum class Action { alloc, free_requested, free_completed };
    Action action;
    std::int64_t slot;
    std::int64_t bytes;
    int stream;
  };

  void run(int steps) {
    for (int i = 0; i < steps; ++i) step();
  }

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  // As a snapshot at the end, whose buffer lost the first `lost` entries.
  [[nodiscard]] Py snapshot(std::size_t lost) const {
    Py::List trace;
    for (std::size_t i = lost; i < entries_.size(); ++i) {
      static constexpr const char* kNames[] = {"alloc", "free_requested", "free_completed"};
      const Entry& e = entries_[i];
      trace.push_back(entry(kNames[static_cast<int>(e.action)], address(e.slot), e.bytes,
                            static_cast<std::int64_t>(1000 + i), e.stream));
    }
    Py::List segments;
    for (std::int64_t slot = 0; slot < kSlots; ++slot) {
      const Slot& s = slots_[static_cast<std::size_t>(slot)];
      const char* state = s.state == State::live      ? "active_allocated"
                          : s.state == State::pending ? "active_pending_free"
                                                      : "inactive";
      segments.push_back(segment(0, address(slot), kSlotBytes,
                                 {block(address(slot), kSlotBytes, s.bytes, state)}, s.stream));
    }
    return testing::snapshot(std::move(segments), {Py(std::move(trace))});
  }

  static constexpr std::int64_t kSlots = 40;

 private:
  enum class State { free, live, pending };
  struct Slot {
    State state = State::free;
    std::int64_t bytes = 0;
    int stream = 0;
  };
  static constexpr std::int64_t kSlotBytes = 4096;
  static std::int64_t address(std::int64_t slot) { return kSampleBase + slot * kSlotBytes; }

  void step() {
    const auto slot = static_cast<std::int64_t>(random_() % kSlots);
    Slot& s = slots_[static_cast<std::size_t>(slot)];
    if (s.state == State::free) {
      s = {State::live, static_cast<std::int64_t>(1 + random_() % kSlotBytes),
           static_cast<int>(random_() % 3)};
      entries_.push_back({Entry::Action::alloc, slot, s.bytes, s.stream});
      return;
    }
    if (s.state == State::live) {
      entries_.push_back({Entry::Action::free_requested, slot, s.bytes, s.stream});
      s.state = State::pending;
      if (random_() % 3 == 0) return;
    }
    entries_.push_back({Entry::Action::free_completed, slot, s.bytes, s.stream});
    s.state = State::free;
  }

  std::mt19937_64 random_;
  std::vector<Slot> slots_{static_cast<std::size_t>(kSlots)};
  std::vector<Entry> entries_;
};

struct Truth {
  std::vector<std::uint64_t> start;  // sizes, in address order
  std::size_t events = 0;
  std::uint64_t peak = 0;
};

// Follows the whole history; a slot holds bytes for the program until its free is asked for, and
// for the allocator until it is done.
Truth truth_of(const Recorder& recorder, std::size_t lost) {
  using Action = Recorder::Entry::Action;
  std::vector<std::int64_t> held(Recorder::kSlots, 0);
  std::vector<bool> asked(Recorder::kSlots, false);
  Truth truth;
  std::uint64_t live = 0;
  for (std::size_t i = 0; i <= recorder.entries().size(); ++i) {
    if (i == lost) {
      for (const std::int64_t bytes : held) {
        if (bytes != 0) truth.start.push_back(static_cast<std::uint64_t>(bytes));
        live += static_cast<std::uint64_t>(bytes);
      }
      truth.peak = live;
      asked.assign(asked.size(), false);  // what was asked for before the window is not seen
    }
    if (i == recorder.entries().size()) break;
    const Recorder::Entry& e = recorder.entries()[i];
    const auto slot = static_cast<std::size_t>(e.slot);
    const auto bytes = static_cast<std::uint64_t>(e.bytes);
    if (e.action == Action::alloc) {
      held[slot] = e.bytes;
      asked[slot] = false;
      if (i >= lost) live += bytes;
    } else if (e.action == Action::free_requested) {
      asked[slot] = true;
      if (i >= lost) live -= bytes;
    } else {
      if (i >= lost && !asked[slot]) {
        live -= bytes;
        ++truth.events;
      }
      held[slot] = 0;
    }
    if (i >= lost && e.action != Action::free_completed) ++truth.events;
    truth.peak = std::max(truth.peak, live);
  }
  return truth;
}

TEST(SnapshotWindow, IsReadAsItHappened) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Recorder recorder(seed);
    recorder.run(400);
    for (std::size_t lost = 0; lost < recorder.entries().size(); lost += 37) {
      const std::string pickle = testing::pickled(recorder.snapshot(lost), 4);
      auto trace = read_snapshot(pickle);
      ASSERT_TRUE(trace) << trace.error().describe();
      ASSERT_EQ(testing::broken_promise(*trace), "");
      const DeviceTrace& device = trace->devices.at(0);
      const Truth truth = truth_of(recorder, lost);
      std::vector<std::uint64_t> start;
      for (const std::uint32_t b : device.start) start.push_back(device.blocks[b].bytes.count);
      ASSERT_EQ(start, truth.start) << "seed " << seed << ", lost " << lost;
      ASSERT_EQ(device.events.size(), truth.events) << "seed " << seed << ", lost " << lost;
      ASSERT_EQ(device.peak_live, Bytes{truth.peak}) << "seed " << seed << ", lost " << lost;
      ASSERT_THAT(trace->notes, ::testing::Each(::testing::HasSubstr("no event allocates")));
    }
  }
}

}  // namespace
}  // namespace ferry::replay
