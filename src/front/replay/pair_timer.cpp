// SPDX-License-Identifier: Apache-2.0
#include "front/replay/pair_timer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace ferry::replay {

namespace {

constexpr int kWarmPasses = 2;
constexpr int kMostTimedPasses = 50;
constexpr std::size_t kEnoughPairs = 50'000;  // p99 then rests on hundreds of pairs

using Clock = std::chrono::steady_clock;

double nanoseconds(Clock::duration duration) {
  return static_cast<double>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
}

// What two readings of the clock with nothing between differ by. The clock may tick as coarsely as
// the time between them, so single differences say little: their mean does, without the outliers.
double clock_cost() {
  std::vector<double> costs(2000);
  for (double& cost : costs) {
    const Clock::time_point before = Clock::now();
    cost = nanoseconds(Clock::now() - before);
  }
  std::sort(costs.begin(), costs.end());
  const auto cut = static_cast<std::ptrdiff_t>(costs.size() / 20);
  const double sum = std::accumulate(costs.begin() + cut, costs.end() - cut, 0.0);
  return sum / static_cast<double>(costs.size() - 2 * static_cast<std::size_t>(cut));
}

class PairTimer {
 public:
  PairTimer(const DeviceTrace& trace, DevicePool& pool, const TraceStreams& streams)
      : trace_(trace), pool_(pool) {
    block_streams_.reserve(trace.blocks.size());
    event_streams_.reserve(trace.events.size());
    for (const TraceBlock& block : trace.blocks) block_streams_.push_back(streams.of(block.stream));
    for (const TraceEvent& event : trace.events) event_streams_.push_back(streams.of(event.stream));
    addresses_.resize(trace.blocks.size());
    spent_.resize(trace.blocks.size());
  }

  [[nodiscard]] Status pass(std::vector<double>* pairs);

 private:
  [[nodiscard]] Status allocate(std::uint32_t block);
  [[nodiscard]] Status free(std::uint32_t block, StreamRef stream);

  const DeviceTrace& trace_;
  DevicePool& pool_;
  const double clock_cost_ = clock_cost();
  std::vector<StreamRef> block_streams_;
  std::vector<StreamRef> event_streams_;
  std::vector<DeviceAddress> addresses_;  // by block; null when not live
  std::vector<double> spent_;             // by block, on its allocation
};

Status PairTimer::allocate(std::uint32_t block) {
  const Bytes bytes = trace_.blocks[block].bytes;
  const StreamRef stream = block_streams_[block];
  const Clock::time_point before = Clock::now();
  const Result<DeviceAddress> address = pool_.allocate(bytes, stream);
  const Clock::time_point after = Clock::now();
  if (!address) return address.error();
  spent_[block] = nanoseconds(after - before);
  addresses_[block] = *address;
  return {};
}

Status PairTimer::free(std::uint32_t block, StreamRef stream) {
  const DeviceAddress address = addresses_[block];
  const Clock::time_point before = Clock::now();
  const Status status = pool_.free(address, stream);
  const Clock::time_point after = Clock::now();
  spent_[block] += nanoseconds(after - before);
  addresses_[block] = {};
  return status;
}

Status PairTimer::pass(std::vector<double>* pairs) {
  for (const std::uint32_t block : trace_.start) FERRY_TRY(allocate(block));
  std::vector<bool> in_window(trace_.blocks.size());
  for (std::size_t i = 0; i < trace_.events.size(); ++i) {
    const std::uint32_t block = trace_.events[i].block;
    if (trace_.events[i].kind == TraceEvent::Kind::allocate) {
      in_window[block] = true;
      FERRY_TRY(allocate(block));
      continue;
    }
    FERRY_TRY(free(block, event_streams_[i]));
    if (pairs != nullptr && in_window[block]) {
      pairs->push_back(std::max(spent_[block] - 2 * clock_cost_, 0.0));
    }
  }
  for (std::uint32_t block = 0; block < trace_.blocks.size(); ++block) {
    if (!addresses_[block].is_null()) FERRY_TRY(free(block, block_streams_[block]));
  }
  return {};
}

}  // namespace

double percentile(std::vector<double>& values, double fraction) {
  if (values.empty()) return 0;
  const double rank = std::ceil(fraction * static_cast<double>(values.size()));
  const std::size_t index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::min(index, values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

Result<PairTimes> time_pairs(const DeviceTrace& trace, DevicePool& pool,
                             const TraceStreams& streams) {
  PairTimer timer(trace, pool, streams);
  for (int i = 0; i < kWarmPasses; ++i) FERRY_TRY(timer.pass(nullptr));
  std::vector<double> pairs;
  for (int i = 0; i < kMostTimedPasses && pairs.size() < kEnoughPairs; ++i) {
    const std::size_t before = pairs.size();
    FERRY_TRY(timer.pass(&pairs));
    if (pairs.size() == before) break;  // the trace has none
  }
  return PairTimes{
      .p50 = percentile(pairs, 0.5), .p99 = percentile(pairs, 0.99), .pairs = pairs.size()};
}

}  // namespace ferry::replay
