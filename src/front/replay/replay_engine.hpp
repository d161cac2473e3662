// SPDX-License-Identifier: Apache-2.0
// Replays the history of one device on an allocator: the start set, the events in order, then the
// frees of what is left, as often as asked, with every check on. Knows nothing of files, cost
// tables and drivers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "front/replay/replay_result.hpp"
#include "front/replay/replayed_allocator.hpp"
#include "front/traces/trace.hpp"

namespace ferry::replay {

// Told now and then: the pass (from 1) and how many of its events are done.
using ProgressSink = std::function<void(std::uint32_t pass, std::uint64_t event)>;

struct ReplayOptions {
  std::uint32_t passes = 1;
  std::uint64_t audit_every = 0;  // events; 0: only after each pass
  bool record_timeline = false;
  bool marks = true;        // false: the device forgets what is written
  ProgressSink progress{};  // may be empty
};

struct ReplayOutcome {
  bool completed = false;
  bool out_of_memory = false;
  Bytes refused;      // the size of the request that memory did not suffice for
  std::string error;  // why it did not complete: the allocator's report, or a failed check
  std::vector<PassResult> passes;  // those that completed; without costs
  Bytes peak_reserved;
  std::vector<Sample> timeline;  // of the first pass, as far as it came
  std::vector<CallMark> marks;
};

// `tool`: where the streams, marks and waits of the replay itself go. Requires: it reaches the same
// device as the allocator, but counts apart.
[[nodiscard]] ReplayOutcome replay(const DeviceTrace& trace, ReplayedAllocator& allocator,
                                   Device& tool, const ReplayOptions& options);

}  // namespace ferry::replay
