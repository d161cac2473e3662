// SPDX-License-Identifier: Apache-2.0
#include "front/traces/snapshot_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "front/traces/messages.hpp"
#include "front/traces/pickle/pickle.hpp"
#include "front/traces/snapshot_device.hpp"
#include "front/traces/snapshot_fields.hpp"

namespace ferry::replay {
namespace {

using Kind = SnapshotPlace::Kind;

constexpr std::uint64_t kMaxDevices = 1024;
constexpr std::uint64_t kLatestTime = std::uint64_t{1} << 61;
constexpr std::uint64_t kAnyNumber = ~std::uint64_t{0};

class SnapshotReader {
 public:
  explicit SnapshotReader(const PickleDocument& document, std::uint64_t file_bytes)
      // Every value of an honest snapshot has bytes of its own in the file.
      : fields_(document, 2 * file_bytes) {}

  Result<Trace, TraceError> read();

 private:
  // Each returns false after it has said what is wrong through `fields_`.
  bool read_top(PickleValue root);
  [[nodiscard]] bool holds_entries(PickleValue traces) const;
  bool read_traces(PickleValue traces);
  bool read_entries(std::uint64_t device, PickleValue entries);
  bool read_entry(SnapshotDevice& state, PickleValue entry, SnapshotPlace place);
  bool read_call(SnapshotDevice& state, std::string_view action, SnapshotPlace place);
  bool read_segment_change(SnapshotDevice& state, bool grows, SnapshotPlace place);
  bool read_out_of_memory(SnapshotDevice& state, SnapshotPlace place);
  bool read_segments(PickleValue segments);
  bool read_segment(PickleValue segment, std::uint64_t index);
  bool read_block(History& history, PickleValue block, SnapshotPlace place, std::uint64_t stream,
                  const SnapshotField& segment_address, std::uint64_t& position);
  bool read_state(const SnapshotField& field, SnapshotPlace place, bool& live, bool& pending);
  bool count_event(const SnapshotDevice& state, SnapshotPlace place);
  void note_unknown_actions();

  // Names of a trace entry, in the order of the enumeration.
  enum EntryKey { action_key, address_key, size_key, stream_key, time_key, device_free_key };
  std::array<SnapshotField, 6> entry_{{{"action", {}},
                                       {"addr", {}},
                                       {"size", {}},
                                       {"stream", {}},
                                       {"time_us", {}},
                                       {"device_free", {}}}};

  SnapshotFields fields_;
  std::map<std::uint64_t, SnapshotDevice> devices_;
  std::map<std::string, std::uint64_t, std::less<>> unknown_actions_;
  bool any_call_ = false;
  bool any_time_ = false;
  Trace trace_;
};

Result<Trace, TraceError> SnapshotReader::read() {
  trace_.format = "PyTorch snapshot";
  if (!read_top(fields_.document().root())) return *fields_.error();
  note_unknown_actions();
  if (any_call_ && !any_time_) {
    trace_.notes.emplace_back("The snapshot has no times: only the order of the events is known.");
  }

  std::int64_t origin = static_cast<std::int64_t>(kLatestTime);
  for (const auto& [device, state] : devices_) {
    origin = std::min(origin, state.history.first_time().value_or(origin));
  }
  for (auto& [device, state] : devices_) {
    if (!state.history.any_block()) continue;
    auto finished = state.finish(static_cast<int>(device), origin, trace_.notes);
    if (!finished) return std::move(finished).error();
    trace_.devices.push_back(std::move(*finished));
  }
  if (trace_.devices.empty()) {
    return TraceError{
        .message = "is a snapshot without any block or event: there is nothing to replay",
        .nothing_to_replay = true};
  }
  return std::move(trace_);
}

bool SnapshotReader::read_top(PickleValue root) {
  const PickleKind kind = fields_.document().kind(root);
  // torch.cuda.memory_snapshot() gives the bare list of segments.
  if (kind == PickleKind::list) return read_segments(root);
  if (kind != PickleKind::dict) {
    return fields_.fail_plainly(
        fmt::format("is a pickle of {}, not a memory snapshot", kind_phrase(kind)), 0);
  }
  std::array<SnapshotField, 3> top{{{"segments", {}}, {"device_traces", {}}, {"host_traces", {}}}};
  const SnapshotPlace place{Kind::top, 0, 0, fields_.document().offset(root)};
  if (!fields_.collect(root, place, top)) return false;
  if (top[0].value.empty() && top[1].value.empty()) {
    return fields_.fail_plainly(
        "is no memory snapshot: its dict has neither 'segments' nor 'device_traces'", place.offset);
  }
  PickleValue segments;
  PickleValue traces;
  PickleValue host_traces;
  if (!fields_.optional_list(top[0], place, segments) ||
      !fields_.optional_list(top[1], place, traces) ||
      !fields_.optional_list(top[2], place, host_traces)) {
    return false;
  }
  if (holds_entries(host_traces)) {
    trace_.notes.emplace_back("The snapshot also recorded pinned host memory; it is not replayed.");
  }
  if (segments.empty()) {
    trace_.notes.emplace_back(
        "The snapshot has no segments: of the blocks live at the start only those that an event "
        "frees are known.");
  }
  // The final state is settled against the events, so the events come first.
  return read_traces(traces) && read_segments(segments);
}

bool SnapshotReader::holds_entries(PickleValue traces) const {
  if (traces.empty()) return false;
  const PickleDocument& document = fields_.document();
  PickleItems items = document.items(traces);
  while (const auto item = items.next()) {
    if (!document.is_container(*item) || document.size(*item) != 0) return true;
  }
  return false;
}

bool SnapshotReader::read_traces(PickleValue traces) {
  if (traces.empty()) return true;
  PickleItems items = fields_.document().items(traces);
  std::uint64_t device = 0;
  while (const auto entries = items.next()) {
    if (!fields_.visit(1)) return false;
    if (device >= kMaxDevices) {
      return fields_.fail_plainly(fmt::format("has traces of more than {} devices", kMaxDevices),
                                  fields_.document().offset(traces));
    }
    if (!read_entries(device, *entries)) return false;
    ++device;
  }
  return true;
}

bool SnapshotReader::read_entries(std::uint64_t device, PickleValue entries) {
  const PickleKind kind = fields_.document().kind(entries);
  if (kind != PickleKind::list && kind != PickleKind::tuple) {
    return fields_.fail_plainly(fmt::format("is no valid snapshot: the trace of device {} is {}, "
                                            "not a list",
                                            device, kind_phrase(kind)),
                                0);
  }
  PickleItems items = fields_.document().items(entries);
  SnapshotPlace place{Kind::entry, device, 0, fields_.document().offset(entries)};
  while (const auto entry = items.next()) {
    if (!fields_.visit(1)) return false;
    if (fields_.document().is_container(*entry)) place.offset = fields_.document().offset(*entry);
    if (!read_entry(devices_[device], *entry, place)) return false;
    ++place.inner;
  }
  return true;
}

bool SnapshotReader::read_entry(SnapshotDevice& state, PickleValue entry, SnapshotPlace place) {
  if (!fields_.collect(entry, place, entry_)) return false;
  std::string_view action;
  if (!fields_.text(entry_[action_key], place, action)) return false;
  if (action == "alloc" || action == "free_requested" || action == "free_completed") {
    return read_call(state, action, place);
  }
  if (action == "segment_alloc" || action == "segment_map") {
    return read_segment_change(state, true, place);
  }
  if (action == "segment_free" || action == "segment_unmap") {
    return read_segment_change(state, false, place);
  }
  if (action == "oom") return read_out_of_memory(state, place);
  if (action != "snapshot" && action != "annotate") {
    constexpr std::size_t kMostNames = 8;
    const auto found = unknown_actions_.find(action);
    if (found != unknown_actions_.end()) ++found->second;
    if (found == unknown_actions_.end() && unknown_actions_.size() < kMostNames) {
      unknown_actions_.emplace(action, 1);
    }
  }
  return true;
}

bool SnapshotReader::count_event(const SnapshotDevice& state, SnapshotPlace place) {
  if (!state.full()) return true;
  return fields_.fail_plainly(fmt::format("has more than {} events", kMaxTraceEvents),
                              place.offset);
}

bool SnapshotReader::read_call(SnapshotDevice& state, std::string_view action,
                               SnapshotPlace place) {
  HistoryCall call;
  std::uint64_t time = 0;
  if (!count_event(state, place)) return false;
  if (!fields_.number(entry_[address_key], place, kAnyNumber, call.address)) return false;
  if (!fields_.number(entry_[size_key], place, kMaxTraceBlock.count, call.bytes.count))
    return false;
  if (!fields_.optional_number(entry_[stream_key], place, kAnyNumber, call.stream)) return false;
  if (!fields_.optional_number(entry_[time_key], place, kLatestTime, time)) return false;
  call.time_us = static_cast<std::int64_t>(time);
  any_call_ = true;
  any_time_ = any_time_ || time != 0;
  if (action == "alloc") {
    state.history.allocate(call);
  } else if (action == "free_requested") {
    state.history.free(call);
  } else {
    state.history.complete_free(call);
  }
  return true;
}

bool SnapshotReader::read_segment_change(SnapshotDevice& state, bool grows, SnapshotPlace place) {
  Bytes bytes;
  if (!count_event(state, place) ||
      !fields_.number(entry_[size_key], place, kMaxTraceBlock.count, bytes.count)) {
    return false;
  }
  state.reserve_changes.push_back({state.history.event_count(), grows, bytes});
  return true;
}

bool SnapshotReader::read_out_of_memory(SnapshotDevice& state, SnapshotPlace place) {
  RecordedFailures& failures = state.failures;
  failures.last_free = Bytes{};
  if (!fields_.number(entry_[size_key], place, kAnyNumber, failures.last_asked.count) ||
      !fields_.optional_number(entry_[device_free_key], place, kAnyNumber,
                               failures.last_free.count)) {
    return false;
  }
  ++failures.count;
  failures.last_entry = place.inner;
  return true;
}

bool SnapshotReader::read_segments(PickleValue segments) {
  if (segments.empty()) return true;
  PickleItems items = fields_.document().items(segments);
  std::uint64_t index = 0;
  while (const auto segment = items.next()) {
    if (!fields_.visit(1) || !read_segment(*segment, index++)) return false;
  }
  return true;
}

bool SnapshotReader::read_segment(PickleValue segment, std::uint64_t index) {
  SnapshotPlace place{Kind::segment, index, 0, 0};
  if (fields_.document().is_container(segment)) place.offset = fields_.document().offset(segment);
  std::array<SnapshotField, 5> keys{
      {{"device", {}}, {"address", {}}, {"total_size", {}}, {"stream", {}}, {"blocks", {}}}};
  if (!fields_.collect(segment, place, keys)) return false;
  std::uint64_t device = 0;
  std::uint64_t begin = 0;
  std::uint64_t stream = 0;
  PickleValue blocks;
  if (!fields_.optional_number(keys[0], place, kMaxDevices - 1, device) ||
      !fields_.optional_number(keys[1], place, kAnyNumber, begin) ||
      !fields_.optional_number(keys[3], place, kAnyNumber, stream) ||
      !fields_.optional_list(keys[4], place, blocks)) {
    return false;
  }

  SnapshotDevice& state = devices_[device];
  std::uint64_t position = begin;
  if (!blocks.empty()) {
    PickleItems items = fields_.document().items(blocks);
    SnapshotPlace inside{Kind::block, index, 0, place.offset};
    while (const auto block = items.next()) {
      if (!fields_.visit(1)) return false;
      if (fields_.document().is_container(*block)) {
        inside.offset = fields_.document().offset(*block);
      }
      if (!read_block(state.history, *block, inside, stream, keys[1], position)) return false;
      ++inside.inner;
    }
  }
  Bytes total{position - begin};
  if (!fields_.optional_number(keys[2], place, kMaxTraceBlock.count, total.count)) return false;
  if (total > kMaxTraceBlock || state.segment_bytes > kMaxTraceLive - total) {
    return fields_.fail(
        place, fmt::format("the segments add up to more than {}", format_bytes(kMaxTraceLive)));
  }
  state.segment_bytes += total;
  state.any_segment = true;
  return true;
}

// `position` is where the block lies if it does not say so itself: after the one before it.
bool SnapshotReader::read_block(History& history, PickleValue block, SnapshotPlace place,
                                std::uint64_t stream, const SnapshotField& segment_address,
                                std::uint64_t& position) {
  std::array<SnapshotField, 4> keys{
      {{"address", {}}, {"size", {}}, {"requested_size", {}}, {"state", {}}}};
  if (!fields_.collect(block, place, keys)) return false;
  HistoryCall call;
  call.stream = stream;
  call.address = position;
  if (keys[0].value.empty() && segment_address.value.empty()) {
    return fields_.fail(place, "neither it nor its segment has an 'address'");
  }
  std::uint64_t size = 0;
  if (!fields_.optional_number(keys[0], place, kAnyNumber, call.address)) return false;
  if (!fields_.number(keys[1], place, kMaxTraceBlock.count, size)) return false;
  call.bytes = Bytes{size};
  if (!fields_.optional_number(keys[2], place, kMaxTraceBlock.count, call.bytes.count))
    return false;
  bool live = false;
  bool pending = false;
  if (!read_state(keys[3], place, live, pending)) return false;
  position += size;
  if (!live) return true;
  if (history.full()) {
    return fields_.fail_plainly(fmt::format("has more than {} blocks", kMaxTraceEvents),
                                place.offset);
  }
  history.add_final(call, pending);
  return true;
}

bool SnapshotReader::read_state(const SnapshotField& field, SnapshotPlace place, bool& live,
                                bool& pending) {
  std::string_view state;
  if (!fields_.text(field, place, state)) return false;
  // PyTorch writes the second name of the pair, and documents the first.
  pending = state == "active_awaiting_free" || state == "active_pending_free";
  live = pending || state == "active_allocated";
  if (live || state == "inactive") return true;
  return fields_.fail(place, fmt::format("'state' is {}, which is not known", in_quotes(state)));
}

void SnapshotReader::note_unknown_actions() {
  for (const auto& [name, count] : unknown_actions_) {
    trace_.notes.push_back(fmt::format("{} the unknown action {} and {} ignored.",
                                       counted(count, "entry has", "entries have"), in_quotes(name),
                                       count == 1 ? "is" : "are"));
  }
}

}  // namespace

Result<Trace, TraceError> read_snapshot(std::string_view pickle) {
  auto document = decode_pickle(pickle);
  if (!document) return std::move(document).error();
  return SnapshotReader(*document, pickle.size()).read();
}

}  // namespace ferry::replay
