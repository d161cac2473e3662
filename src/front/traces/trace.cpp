// SPDX-License-Identifier: Apache-2.0
#include "front/traces/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "front/traces/byte_source.hpp"
#include "front/traces/kineto_reader.hpp"
#include "front/traces/pickle/pickle.hpp"
#include "front/traces/rmm_reader.hpp"
#include "front/traces/snapshot_reader.hpp"

namespace ferry::replay {
namespace {

bool looks_like_json(std::string_view head) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (head[first] == '{' || head[first] == '[');
}

Result<Trace, TraceError> read_any(ByteSource& source) {
  auto head = source.peek();
  if (!head) return std::move(head).error();
  if (head->empty()) return TraceError{.message = "is empty", .nothing_to_replay = true};
  if (looks_like_rmm_log(*head)) return read_rmm_log(source);
  if (looks_like_json(*head)) return read_kineto(source);
  if (looks_like_pickle(*head)) {
    // Texts stay where they are in the pickle, so it is needed in one piece.
    auto whole = source.rest();
    if (!whole) return std::move(whole).error();
    return read_snapshot(*whole);
  }
  return TraceError{.message =
                        "is no known trace: neither a PyTorch memory snapshot, nor an RMM log, "
                        "nor a Kineto trace",
                    .offset = 0,
                    .nothing_to_replay = true};
}

}  // namespace

std::string device_name(int device) {
  return device < 0 ? "the host" : fmt::format("device {}", device);
}

std::string device_title(int device) {
  return device < 0 ? "The host" : fmt::format("Device {}", device);
}

std::string TraceError::describe() const {
  return offset ? fmt::format("{}, at byte {}", message, *offset) : message;
}

Result<Trace, TraceError> read_trace(const std::string& path) {
  auto source = ByteSource::open(path);
  if (!source) return std::move(source).error();
  auto trace = read_any(*source);
  if (trace) trace->name = path.substr(path.find_last_of('/') + 1);
  return trace;
}

Result<Trace, TraceError> read_trace_bytes(std::string_view bytes, const std::string& name) {
  ByteSource source = ByteSource::over(bytes);
  auto trace = read_any(source);
  if (trace) trace->name = name;
  return trace;
}

void compute_peak_live(DeviceTrace& trace) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t live = 0;
  const auto grow = [&live](Bytes bytes) { live += std::min(bytes.count, kMost - live); };
  for (const std::uint32_t block : trace.start) grow(trace.blocks[block].bytes);
  trace.peak_live = Bytes{live};
  for (const TraceEvent& event : trace.events) {
    const Bytes bytes = trace.blocks[event.block].bytes;
    if (event.kind == TraceEvent::Kind::allocate) {
      grow(bytes);
      trace.peak_live = std::max(trace.peak_live, Bytes{live});
    } else {
      live -= std::min(live, bytes.count);
    }
  }
}

}  // namespace ferry::replay
