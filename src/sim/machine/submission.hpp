// SPDX-License-Identifier: Apache-2.0
// Work before it is queued: what it does, what it will touch, and how a graph describes it. A plain
// value: a node of a graph keeps one, and every launch queues a copy.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sim/hazards/touch.hpp"
#include "sim/machine/node_params.hpp"
#include "sim/order/host_use.hpp"
#include "sim/order/operation.hpp"
#include "sim/words/cuda_api.hpp"

namespace ferry::sim {

// How long the call waits: `until_read`: until the host's memory that the work reads may be
// changed.
enum class Wait : std::uint8_t { no, until_read, until_done };

struct Submission {
  Symbol symbol = Symbol::count;
  CUstream stream = nullptr;
  Wait wait = Wait::no;
  std::vector<Touch> touches;
  std::function<CUresult(int device)> work;
  std::vector<Ticket> after = {};                            // beside what the stream comes after
  std::function<bool(int device)> may_begin = nullptr;       // see Operation
  std::function<const Clock*(int device)> reason = nullptr;  // see Operation
  // For the model of time: what it moves, where that is more than it touches.
  std::vector<Touch> moves = {};
  // Its time is part of another operation's, which comes after it and watches its sources, too.
  bool in_anothers_time = false;
  Picoseconds extra_time = 0;  // beyond what moving the bytes takes
  HostWord word = {};          // that it writes or waits for, wherever that lies
  std::uint64_t launch = 0;    // of the graph that it is a node of; 0: of none
  // The node that a capture makes of it; nothing where it cannot be captured.
  std::optional<NodeParams> node = std::nullopt;
  // Of a node: what the program called for it and where. `symbol` stays that of the function that
  // queues the like at once.
  Symbol added_by = Symbol::count;
  const void* added_at = nullptr;
  // Of a framework, during which it was submitted; null: during none.
  const FrameworkOperator* part_of = nullptr;
};

}  // namespace ferry::sim
