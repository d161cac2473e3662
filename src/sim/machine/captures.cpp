// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/captures.hpp"

#include <algorithm>
#include <utility>

#include "sim/words/handles.hpp"

namespace ferry::sim {

std::vector<std::uint64_t> values_of(std::span<const CUgraphNode> nodes) {
  std::vector<std::uint64_t> values;
  for (const CUgraphNode node : nodes) values.push_back(value_of(node));
  return values;
}

namespace {

bool hinders(const Capture& capture, std::uint64_t thread, CUstreamCaptureMode mode) {
  if (mode == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
  if (capture.thread == thread) return capture.mode != CU_STREAM_CAPTURE_MODE_RELAXED;
  return mode == CU_STREAM_CAPTURE_MODE_GLOBAL && capture.mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

}  // namespace

void Captures::join(Stream& stream, std::shared_ptr<Capture> capture,
                    std::vector<CUgraphNode> after) {
  streams_.emplace(&stream, CapturingStream{std::move(capture), std::move(after), {}});
}

void Captures::begin(Stream& stream, Capture capture, std::vector<CUgraphNode> after) {
  capture.id = next_id_++;
  capture.origin = &stream;
  join(stream, std::make_shared<Capture>(std::move(capture)), std::move(after));
}

void Captures::end(Capture& capture) {
  capture.ended = true;
  capture.graph->owner = Graph::Owner::program;
  capture.graph->let_go.clear();
  std::erase_if(streams_, [&](const auto& in) { return in.second.capture.get() == &capture; });
}

void Captures::forget(const Stream& stream) {
  const auto found = streams_.find(&stream);
  if (found == streams_.end()) return;
  const std::shared_ptr<Capture> capture = found->second.capture;
  if (capture->origin == &stream) {
    capture->invalidated = true;
    end(*capture);
    return;
  }
  const std::vector<std::uint64_t> last = values_of(found->second.after);
  capture->left_behind.insert(capture->left_behind.end(), last.begin(), last.end());
  streams_.erase(found);
}

void Captures::forget_all_of(const StreamGroup& group) {
  std::vector<const Stream*> going;
  for (const auto& [stream, in] : streams_) {
    if (&stream->group != &group) continue;
    in.capture->invalidated = true;
    going.push_back(stream);
  }
  for (const Stream* const stream : going) forget(*stream);
}

CapturingStream* Captures::find(const Stream& stream) {
  const auto found = streams_.find(&stream);
  return found == streams_.end() ? nullptr : &found->second;
}

Capture* Captures::find_in(const StreamGroup& group, bool blocking_only) const {
  for (const auto& [stream, in] : streams_) {
    if (&stream->group == &group && (stream->blocking || !blocking_only)) return in.capture.get();
  }
  return nullptr;
}

bool Captures::invalidate_hindering(std::uint64_t thread, CUstreamCaptureMode mode) {
  bool found = false;
  for (auto& [stream, in] : streams_) {
    if (!hinders(*in.capture, thread, mode)) continue;
    in.capture->invalidated = true;
    found = true;
  }
  return found;
}

bool Captures::is_joined(const Capture& capture) const {
  std::vector<std::uint64_t> last = values_of(streams_.at(capture.origin).after);
  last.insert(last.end(), capture.graph->let_go.begin(), capture.graph->let_go.end());
  if (!capture.graph->lead_to(capture.left_behind, last)) return false;
  return std::ranges::all_of(streams_, [&](const auto& entry) {
    const CapturingStream& in = entry.second;
    return in.capture.get() != &capture || capture.graph->lead_to(values_of(in.after), last);
  });
}

}  // namespace ferry::sim
