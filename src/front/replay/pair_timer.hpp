// SPDX-License-Identifier: Apache-2.0
// How long the pool itself takes for an allocation and its free: nanoseconds of Ferry's own code.
//
// Method: a pool that has seen the trace twice (so that it makes no driver call any more) replays
// it with no marks queued. The monotonic clock is read right before and after each call, nothing
// else stands between; what the clock itself costs is measured by reading it twice with nothing
// between, and subtracted. The allocation and the free of one block are a pair; pairs of all timed
// passes count alike. Cache misses on the pool's own data are in the figure, those of a program's
// work between the calls are not.
//
// In traces of several streams the pool records and queries events: that driver work is in the
// figure.
#pragma once

#include <cstdint>
#include <vector>

#include "front/replay/trace_streams.hpp"
#include "front/traces/trace.hpp"
#include "memory/device_pool.hpp"

namespace ferry::replay {

struct PairTimes {
  double p50 = 0;  // nanoseconds; 0 when there are no pairs
  double p99 = 0;
  std::uint64_t pairs = 0;
};

// Over the blocks that are both allocated and freed by the events. Requires: nothing is queued, and
// the pool has no live block. On an error, live blocks stay behind.
[[nodiscard]] Result<PairTimes> time_pairs(const DeviceTrace& trace, DevicePool& pool,
                                           const TraceStreams& streams);

// The smallest value that at least `fraction` of all are not above; 0 for none. Reorders them.
[[nodiscard]] double percentile(std::vector<double>& values, double fraction);

}  // namespace ferry::replay
