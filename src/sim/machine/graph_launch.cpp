// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/graph_launch.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/machine/capture_access.hpp"
#include "sim/machine/event_access.hpp"

namespace ferry::sim {

namespace {

// Where a node that was queued lies.
struct Place {
  Stream* stream = nullptr;
  Ticket ticket;
};

// One launch while it is being queued. Nothing runs meanwhile.
class GraphLaunch {
 public:
  // `number`: tells it from other launches.
  GraphLaunch(Call& call, const StreamUse& use, CUstream stream, std::uint64_t number,
              ExecutableGraph& executable)
      : call_(call), use_(use), stream_(stream), number_(number), lanes_(executable.lanes) {}

  // Queues the nodes of a graph; what comes after them all comes after the result.
  [[nodiscard]] std::vector<Ticket> queue(const Graph& graph, const std::vector<Ticket>& begin);

  [[nodiscard]] const std::vector<QueuedOperation>& operations() const { return operations_; }

  // The streams that were made for the launch go when their work is done.
  void close() {
    for (Stream* const stream : own_streams_) call_.machine.engine.destroy_stream(*stream);
  }

 private:
  [[nodiscard]] Context& context_of(const GraphNode& node) {
    return node.context == 0 ? *use_.context : *call_.machine.contexts.find(node.context);
  }
  // Goes on with the stream of a node that `node` comes after, where it is the first to do so.
  [[nodiscard]] Stream& stream_for(const GraphNode& node,
                                   const std::map<std::uint64_t, Place>& done);
  [[nodiscard]] Ticket queue_node(const GraphNode& node, Stream& stream,
                                  const std::vector<Ticket>& after);
  [[nodiscard]] Ticket point(Stream& stream, std::span<const Ticket> after) {
    return call_.machine.engine.enqueue(stream, {}, after);
  }

  Call& call_;
  const StreamUse use_;
  const CUstream stream_;
  const std::uint64_t number_;
  std::vector<LaneNumber>& lanes_;
  std::vector<QueuedOperation> operations_;
  std::vector<Stream*> own_streams_;
};

Stream& GraphLaunch::stream_for(const GraphNode& node, const std::map<std::uint64_t, Place>& done) {
  StreamGroup& group = *context_of(node).streams;
  for (const std::uint64_t earlier : node.after) {
    const Place& place = done.at(earlier);
    if (&place.stream->group == &group && place.stream->newest == place.ticket)
      return *place.stream;
  }
  StreamEngine& engine = call_.machine.engine;
  if (own_streams_.size() == lanes_.size()) lanes_.push_back(engine.open_lane());
  Stream& stream = engine.create_inner_stream(group, lanes_[own_streams_.size()]);
  own_streams_.push_back(&stream);
  return stream;
}

Ticket GraphLaunch::queue_node(const GraphNode& node, Stream& stream,
                               const std::vector<Ticket>& after) {
  StreamEngine& engine = call_.machine.engine;
  const NodeParams& params = *node.work.node;
  if (!node.enabled) return point(stream, after);
  if (node.work.work) {
    Submission work = node.work;
    work.stream = stream_;
    work.after = after;
    work.launch = number_;
    operations_.push_back(queue_on(call_, {&stream, &context_of(node)}, std::move(work)));
    return operations_.back().ticket;
  }
  const Ticket entered = point(stream, after);
  if (const auto* const host = std::get_if<HostNode>(&params)) {
    return engine.enqueue_host_function(
        stream, [its = *host] { as_host_function([&] { its.function(its.data); }); });
  }
  if (const auto* const record = std::get_if<RecordNode>(&params)) {
    queue_record(call_, *find_event(call_, record->event), stream);
    return stream.newest;
  }
  if (const auto* const wait = std::get_if<WaitNode>(&params)) {
    const Ticket latest = latest_record(call_, *find_event(call_, wait->event), stream.group);
    return point(stream, std::span(&latest, 1));
  }
  if (const auto* const child = std::get_if<ChildNode>(&params))
    return point(stream, queue(*child->graph, {entered}));
  return entered;
}

std::vector<Ticket> GraphLaunch::queue(const Graph& graph, const std::vector<Ticket>& begin) {
  const std::optional<std::vector<const GraphNode*>> order = graph.sorted();
  std::map<std::uint64_t, Place> done;
  for (const GraphNode* const node : *order) {
    Stream& stream = stream_for(*node, done);
    std::vector<Ticket> after;
    for (const std::uint64_t earlier : node->after) after.push_back(done.at(earlier).ticket);
    const Ticket ticket = queue_node(*node, stream, node->after.empty() ? begin : after);
    done[node->handle] = {&stream, ticket};
  }
  for (const GraphNode* const node : *order) {
    for (const std::uint64_t earlier : node->after) done.erase(earlier);
  }
  std::vector<Ticket> ends;
  for (const auto& [handle, place] : done) ends.push_back(place.ticket);
  return ends.empty() ? begin : ends;
}

// What a launch needs must still be there.
CUresult check_graph(Call& call, const Graph& graph) {
  for (const auto& [handle, node] : graph.nodes()) {
    const NodeParams& params = *node.work.node;
    const auto* const record = std::get_if<RecordNode>(&params);
    const auto* const wait = std::get_if<WaitNode>(&params);
    if (node.context != 0 && call.machine.contexts.find(node.context) == nullptr)
      return CUDA_ERROR_INVALID_CONTEXT;
    if ((record != nullptr && find_event(call, record->event) == nullptr) ||
        (wait != nullptr && find_event(call, wait->event) == nullptr)) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    if (const auto* const child = std::get_if<ChildNode>(&params)) {
      if (const CUresult inside = check_graph(call, *child->graph); inside != CUDA_SUCCESS)
        return inside;
    }
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult launch_graph(Call& call, const std::shared_ptr<ExecutableGraph>& executable,
                      CUstream stream) {
  StreamUse use;
  if (const CUresult result = find_stream(call, stream, use); result != CUDA_SUCCESS) return result;
  if (const CUresult result = check_implicit(call, use); result != CUDA_SUCCESS) return result;
  if (const CUresult result = check_graph(call, *executable->graph); result != CUDA_SUCCESS)
    return result;
  if (CapturingStream* const in = capture_of(call, use)) {
    if (in->capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    Submission child;
    child.node = ChildNode{call.machine.graphs.clone(*executable->graph, Graph::Owner::node)};
    return capture_work(call, use, *in, std::move(child));
  }
  StreamEngine& engine = call.machine.engine;
  const Ticket begin = engine.enqueue(*use.stream, {}, std::span(&executable->last, 1));
  GraphLaunch launch(call, use, stream, begin->number, *executable);
  const std::vector<Ticket> ends = launch.queue(*executable->graph, {begin});
  executable->last = engine.enqueue(*use.stream, {}, ends);
  launch.close();
  engine.progress(call.lock);
  for (const QueuedOperation& operation : launch.operations())
    watch_host_memory(call.machine, operation);
  return CUDA_SUCCESS;
}

}  // namespace ferry::sim
