// SPDX-License-Identifier: Apache-2.0
// Which nodes of two graphs of one shape stand for each other, found as cuGraphExecUpdate does:
// from the nodes that nothing comes after, in the order in which they were added, back along the
// edges of each pair, in theirs. So work that was captured again fits, also when its streams were
// interleaved otherwise. Requires the library's lock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "sim/machine/graph.hpp"

namespace ferry::sim {

using NodePairs =
    std::map<std::uint64_t, std::uint64_t>;  // the old graph's nodes, by the new one's

// Where the shapes differ: at a node of the new graph, or in what it comes after; both 0 where the
// whole differs.
struct Mismatch {
  std::uint64_t node = 0;
  std::uint64_t from = 0;
};

// Adds a pair for each node of `fresh`, or says what keeps them from being paired. Graphs inside
// nodes are not looked at. Requires: `old` has an order.
[[nodiscard]] std::optional<Mismatch> pair_nodes(const Graph& old, const Graph& fresh,
                                                 NodePairs& pairs);

}  // namespace ferry::sim
