// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/graph_pairing.hpp"

#include <set>
#include <vector>

namespace ferry::sim {

namespace {

// The nodes that nothing comes after, in the order in which they were added.
std::vector<std::uint64_t> exits_of(const Graph& graph) {
  std::set<std::uint64_t> followed;
  for (const Graph::Edge& edge : graph.edges()) followed.insert(edge.from);
  std::vector<std::uint64_t> exits;
  for (const auto& [handle, node] : graph.nodes()) {
    if (!followed.contains(handle)) exits.push_back(handle);
  }
  return exits;
}

class Pairing {
 public:
  Pairing(const Graph& old, const Graph& fresh, NodePairs& pairs)
      : old_(old), fresh_(fresh), pairs_(pairs) {}

  std::optional<Mismatch> pair_exits() {
    const std::vector<std::uint64_t> old = exits_of(old_);
    const std::vector<std::uint64_t> fresh = exits_of(fresh_);
    if (fresh.size() > old.size()) return Mismatch{fresh[old.size()], 0};
    if (fresh.size() < old.size()) return Mismatch{};
    for (std::size_t i = 0; i < fresh.size(); ++i) static_cast<void>(pair(fresh[i], old[i]));
    return std::nullopt;
  }

  std::optional<Mismatch> follow_edges() {
    while (!open_.empty()) {
      const GraphNode& fresh = fresh_.nodes().at(open_.back());
      const GraphNode& old = old_.nodes().at(pairs_.at(open_.back()));
      open_.pop_back();
      if (fresh.after.size() != old.after.size()) return Mismatch{fresh.handle, 0};
      for (std::size_t i = 0; i < fresh.after.size(); ++i) {
        if (!pair(fresh.after[i], old.after[i])) return Mismatch{fresh.handle, fresh.after[i]};
      }
    }
    return std::nullopt;
  }

  // From no exit a way leads back to nodes of a circle.
  std::optional<Mismatch> find_unpaired() const {
    for (const auto& [handle, node] : fresh_.nodes()) {
      if (!pairs_.contains(handle)) return Mismatch{handle, 0};
    }
    return std::nullopt;
  }

 private:
  // False where one of them is paired with another already.
  bool pair(std::uint64_t fresh, std::uint64_t old) {
    const auto [found, is_new] = pairs_.try_emplace(fresh, old);
    if (!is_new) return found->second == old;
    open_.push_back(fresh);
    return taken_.insert(old).second;
  }

  const Graph& old_;
  const Graph& fresh_;
  NodePairs& pairs_;
  std::set<std::uint64_t> taken_;    // of the old graph
  std::vector<std::uint64_t> open_;  // paired, and their edges not followed yet
};

}  // namespace

std::optional<Mismatch> pair_nodes(const Graph& old, const Graph& fresh, NodePairs& pairs) {
  if (old.nodes().size() != fresh.nodes().size()) return Mismatch{};
  Pairing pairing(old, fresh, pairs);
  if (const auto mismatch = pairing.pair_exits()) return mismatch;
  if (const auto mismatch = pairing.follow_edges()) return mismatch;
  return pairing.find_unpaired();
}

}  // namespace ferry::sim
