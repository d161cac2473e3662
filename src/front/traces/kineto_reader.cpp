// SPDX-License-Identifier: Apache-2.0
#include "front/traces/kineto_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "front/traces/history.hpp"
#include "front/traces/kineto_events.hpp"
#include "front/traces/messages.hpp"

namespace ferry::replay {
namespace {

constexpr std::int32_t kHost = 0;
constexpr std::int32_t kCuda = 1;
constexpr std::int32_t kHip = 6;

using Events = std::vector<KinetoMemoryEvent>;

// Device memory where the trace has any, else the host's. The error: it has neither.
std::optional<TraceError> keep_one_kind(Events& events, std::vector<std::string>& notes) {
  std::set<std::int32_t> types;
  for (const KinetoMemoryEvent& event : events) types.insert(event.device_type);
  const bool device = types.contains(kCuda) || types.contains(kHip);
  if (!device && !types.contains(kHost)) {
    return TraceError{
        fmt::format("has memory events of the device type {} only; known are 0 (host), 1 (CUDA) "
                    "and 6 (HIP)",
                    *types.begin()),
        std::nullopt};
  }
  if (!device) {
    notes.emplace_back(
        "The memory in this file is host memory; it is replayed as if it were device memory.");
  }
  const auto left_out = std::erase_if(events, [&](const KinetoMemoryEvent& event) {
    return device ? event.device_type != kCuda && event.device_type != kHip
                  : event.device_type != kHost;
  });
  if (left_out != 0) {
    notes.push_back(
        fmt::format("{} left out: only those of {} memory are replayed.",
                    counted(left_out, "event of other memory is", "events of other memory are"),
                    device ? "device" : "host"));
  }
  return std::nullopt;
}

// Sums of effects are kept within this, so that no difference leaves 64 bits.
constexpr std::int64_t kFurthest = std::int64_t{1} << 61;

class DeviceReader {
 public:
  // In order of time. False when there are more events or bytes than can be counted.
  bool add(const KinetoMemoryEvent& event);

  Result<DeviceTrace, TraceError> finish(int device, std::int64_t origin_us,
                                         std::vector<std::string>& notes);

 private:
  std::vector<std::string> settle_resident();

  History history_;
  std::vector<RecordedReserved> reserved_;
  Bytes peak_reserved_;
  std::int64_t sum_ = 0;                // effects of all events so far
  std::int64_t start_frees_ = 0;        // bytes freed that the window did not allocate
  std::optional<std::int64_t> before_;  // Total Allocated before the first event
  std::uint64_t departures_ = 0;        // events whose total does not follow from the first
};

bool DeviceReader::add(const KinetoMemoryEvent& event) {
  if (history_.full()) return false;
  const auto bytes = static_cast<std::int64_t>(event.bytes.count);
  const HistoryCall call{event.address, event.bytes, 0,
                         static_cast<std::int64_t>(std::floor(event.time_us))};
  if (event.is_free) {
    const std::uint64_t known = history_.counts().start_frees;
    history_.free(call);
    sum_ -= bytes;
    if (history_.counts().start_frees != known) start_frees_ += bytes;
  } else {
    history_.allocate(call);
    sum_ += bytes;
  }
  if (sum_ > kFurthest || sum_ < -kFurthest || start_frees_ > kFurthest) return false;
  if (event.total_allocated) {
    const std::int64_t before = static_cast<std::int64_t>(event.total_allocated->count) - sum_;
    if (!before_) before_ = before;
    if (before != *before_) ++departures_;
  }
  if (event.total_reserved) {
    // The first figure is taken to hold from the start.
    if (reserved_.empty()) reserved_.push_back({0, *event.total_reserved});
    if (reserved_.back().reserved != *event.total_reserved) {
      reserved_.push_back({history_.event_count(), *event.total_reserved});
    }
    peak_reserved_ = std::max(peak_reserved_, *event.total_reserved);
  }
  return true;
}

std::vector<std::string> DeviceReader::settle_resident() {
  std::vector<std::string> notes;
  if (!before_) {
    notes.emplace_back("how much was live before the window is not recorded");
    return notes;
  }
  const std::int64_t resident = *before_ - start_frees_;
  if (resident > 0) {
    const Bytes bytes{static_cast<std::uint64_t>(resident)};
    history_.add_resident(bytes, 0);
    notes.push_back(fmt::format(
        "{} were live before the window and are not freed in it; they are taken for one block",
        format_bytes(bytes)));
  } else if (resident < 0) {
    notes.push_back(fmt::format(
        "the window frees {} more of older blocks than 'Total Allocated' says were live",
        format_bytes(Bytes{static_cast<std::uint64_t>(-resident)})));
  }
  if (departures_ != 0) {
    notes.push_back(fmt::format(
        "at {} 'Total Allocated' is not what the events before add up to; the events are followed",
        counted(departures_, "event", "events")));
  }
  return notes;
}

Result<DeviceTrace, TraceError> DeviceReader::finish(int device, std::int64_t origin_us,
                                                     std::vector<std::string>& notes) {
  for (const std::string& note : settle_resident()) {
    notes.push_back(fmt::format("{}: {}.", device_title(device), note));
  }
  auto trace = history_.finish(device, origin_us);
  if (!trace) return trace;
  for (std::string& note : describe_mending(history_.counts(), device)) {
    notes.push_back(std::move(note));
  }
  // The host has no reserve, and says 0.
  if (peak_reserved_.count != 0) {
    trace->recorded_peak_reserved = peak_reserved_;
    trace->recorded_reserved = std::move(reserved_);
  }
  return trace;
}

}  // namespace

Result<Trace, TraceError> read_kineto(ByteSource& source) {
  auto read = read_kineto_events(source);
  if (!read) return std::move(read).error();
  Events events = std::move(*read);
  if (events.empty()) {
    return TraceError{.message =
                          "has no '[memory]' events: record it with profile_memory=True, as "
                          "in torch.profiler.profile(profile_memory=True)",
                      .nothing_to_replay = true};
  }
  Trace trace;
  if (auto error = keep_one_kind(events, trace.notes)) return *std::move(error);
  std::stable_sort(
      events.begin(), events.end(),
      [](const KinetoMemoryEvent& a, const KinetoMemoryEvent& b) { return a.time_us < b.time_us; });

  std::map<std::int32_t, DeviceReader> devices;
  for (const KinetoMemoryEvent& event : events) {
    if (!devices[event.device].add(event)) {
      return TraceError{fmt::format("has more events, or more bytes in them, than can be counted, "
                                    "on {}",
                                    device_name(event.device)),
                        std::nullopt};
    }
  }
  trace.format = "Kineto trace";
  const auto origin = static_cast<std::int64_t>(std::floor(events.front().time_us));
  for (auto& [number, reader] : devices) {
    auto device = reader.finish(number, origin, trace.notes);
    if (!device) return std::move(device).error();
    trace.devices.push_back(std::move(*device));
  }
  return trace;
}

}  // namespace ferry::replay
