// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/capture_access.hpp"

#include <algorithm>

namespace ferry::sim {

namespace {

void add_all(std::vector<CUgraphNode>& to, const std::vector<CUgraphNode>& nodes) {
  for (const CUgraphNode node : nodes) {
    if (std::ranges::find(to, node) == to.end()) to.push_back(node);
  }
}

}  // namespace

CapturingStream* capture_of(Call& call, const StreamUse& use) {
  return call.machine.captures.any() ? call.machine.captures.find(*use.stream) : nullptr;
}

CUresult refuse(Capture& capture, CUresult why) {
  if (capture.invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  capture.invalidated = true;
  return why;
}

CUresult check_unsafe(Call& call) {
  if (!call.machine.captures.any()) return CUDA_SUCCESS;
  const auto mode = static_cast<CUstreamCaptureMode>(call.thread.capture_mode);
  return call.machine.captures.invalidate_hindering(call.thread.number, mode)
             ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
             : CUDA_SUCCESS;
}

CUresult check_implicit(Call& call, const StreamUse& use) {
  if (!call.machine.captures.any() || !use.is_legacy()) return CUDA_SUCCESS;
  Capture* const capture = call.machine.captures.find_in(*use.context->streams, true);
  return capture == nullptr ? CUDA_SUCCESS : refuse(*capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
}

CUresult check_not_capturing(Call& call, const StreamUse& use) {
  if (CapturingStream* const in = capture_of(call, use))
    return refuse(*in->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  const CUresult implicit = check_implicit(call, use);
  return implicit == CUDA_SUCCESS ? check_unsafe(call) : implicit;
}

CUresult check_not_capturing(Call& call, const Context& context) {
  Capture* const capture = call.machine.captures.find_in(*context.streams, false);
  return capture == nullptr ? CUDA_SUCCESS
                            : refuse(*capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

CUresult capture_work(Call& call, const StreamUse& use, CapturingStream& in, Submission work) {
  if (in.capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (work.wait != Wait::no || !work.node)
    return refuse(*in.capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  work.added_by = work.symbol;
  work.added_at = call.site;
  const std::uint64_t context = work.work ? use.context->handle : 0;
  const GraphNode& node = call.machine.graphs.add_node(*in.capture->graph, std::move(work), context,
                                                       values_of(in.after));
  in.after = {to_handle<CUgraphNode>(node.handle)};
  return CUDA_SUCCESS;
}

CUresult capture_node(Call& call, const StreamUse& use, CapturingStream& in, NodeParams params) {
  Submission work;
  work.node = std::move(params);
  return capture_work(call, use, in, std::move(work));
}

CUresult refuse_captured_event(const EventEntry& event) {
  Capture& capture = *event.in_capture->capture;
  return capture.ended ? CUDA_ERROR_CAPTURED_EVENT : refuse(capture, CUDA_ERROR_CAPTURED_EVENT);
}

CUresult capture_record(CapturingStream& in, EventEntry& event) {
  if (in.capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  event.in_capture = std::make_shared<CapturedRecord>(CapturedRecord{in.capture, in.after});
  event.polls = 0;
  return CUDA_SUCCESS;
}

CUresult capture_wait(CapturingStream& in, const EventEntry& event) {
  Capture& capture = *in.capture;
  if (capture.invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  const CapturedRecord* const record = event.in_capture.get();
  // A capture may not come after work outside it, save for work that was never there.
  const bool outside = record == nullptr ? event.recorded : record->capture->ended;
  if (outside) return refuse(capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  if (record == nullptr) return CUDA_SUCCESS;
  if (record->capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (in.capture != record->capture) {
    record->capture->invalidated = true;
    return refuse(capture, CUDA_ERROR_STREAM_CAPTURE_MERGE);
  }
  add_all(in.after, record->nodes);
  return CUDA_SUCCESS;
}

CUresult join_capture(Call& call, const StreamUse& use, const CapturedRecord& record) {
  Capture& capture = *record.capture;
  if (capture.ended) return CUDA_ERROR_CAPTURED_EVENT;
  if (capture.invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (use.is_legacy()) return refuse(capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  call.machine.captures.join(*use.stream, record.capture, record.nodes);
  return CUDA_SUCCESS;
}

}  // namespace ferry::sim
