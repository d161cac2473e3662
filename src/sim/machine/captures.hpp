// SPDX-License-Identifier: Apache-2.0
// Captures that go on: which streams are in which, and what the next node of each stream will come
// after. Owned by the machine; requires the library's lock.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "sim/machine/graph.hpp"
#include "sim/words/cuda_api.hpp"

namespace ferry::sim {

// One capture, from its begin to its end.
struct Capture {
  std::uint64_t id = 0;  // never given again
  std::shared_ptr<Graph> graph;
  bool into_given_graph = false;  // the program had the graph before
  const Stream* origin = nullptr;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::uint64_t thread = 0;
  std::vector<std::uint64_t> left_behind;  // the last nodes of streams that were destroyed
  bool invalidated = false;
  bool ended = false;
};

[[nodiscard]] std::vector<std::uint64_t> values_of(std::span<const CUgraphNode> nodes);

// A stream that is in a capture. `after` are handles of nodes, as they are handed to the program.
struct CapturingStream {
  std::shared_ptr<Capture> capture;
  std::vector<CUgraphNode> after;
  std::vector<CUgraphEdgeData> edges;  // one, of zeros, for each of `after`
};

// What an event stands for that was recorded in a capture.
struct CapturedRecord {
  std::shared_ptr<Capture> capture;
  std::vector<CUgraphNode> nodes;
};

class Captures {
 public:
  [[nodiscard]] bool any() const { return !streams_.empty(); }

  // The stream is in the capture from now on. Requires: it is in none.
  void join(Stream& stream, std::shared_ptr<Capture> capture, std::vector<CUgraphNode> after);
  void begin(Stream& stream, Capture capture, std::vector<CUgraphNode> after);
  // All its streams leave it, and its graph is the program's.
  void end(Capture& capture);
  // The stream goes; what was captured in it has to be joined all the same. A capture without its
  // origin can never be ended: it ends with it.
  void forget(const Stream& stream);
  // Streams go with their context: captures that any of them is in become invalid.
  void forget_all_of(const StreamGroup& group);

  // Null for a stream that is in none.
  [[nodiscard]] CapturingStream* find(const Stream& stream);
  // A capture in a stream of the group; those in streams that the default stream is ordered with
  // only, where that is asked for. Null where there is none.
  [[nodiscard]] Capture* find_in(const StreamGroup& group, bool blocking_only) const;

  // Makes invalid what keeps a thread in the given mode from unsafe calls, as
  // cuThreadExchangeStreamCaptureMode in cuda.h says; whether there is any.
  [[nodiscard]] bool invalidate_hindering(std::uint64_t thread, CUstreamCaptureMode mode);

  // Whether every stream's nodes are also the origin's, but for those that were let go.
  [[nodiscard]] bool is_joined(const Capture& capture) const;

 private:
  std::map<const Stream*, CapturingStream> streams_;
  std::uint64_t next_id_ = 1;
};

}  // namespace ferry::sim
