// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/hazard_pair.hpp"

#include <fmt/format.h>

namespace ferry::sim {

namespace {

HazardSide side_of(const Toucher& toucher) {
  return {toucher.symbol, toucher.site, toucher.launch_site, toucher.operation, toucher.part_of};
}

HazardKind kind_of(AccessKind earlier, AccessKind later) {
  if (earlier == AccessKind::read) return HazardKind::write_after_read;
  return later == AccessKind::read ? HazardKind::read_after_write : HazardKind::write_after_write;
}

bool is_same_call(const HazardSide& one, const HazardSide& other) {
  if (one.part_of != nullptr || other.part_of != nullptr)
    return one.part_of == other.part_of && one.launch_site == other.launch_site;
  return one.symbol == other.symbol && one.site == other.site &&
         one.launch_site == other.launch_site &&
         (one.site != nullptr || one.operation == other.operation);
}

std::string name_of(const HazardSide& side) {
  if (side.symbol == Symbol::count) return "the end of a storage at " + side.part_of->place;
  const std::string_view name =
      side.part_of == nullptr ? row_of(side.symbol).name : std::string_view(side.part_of->name);
  return side.operation == 0 ? std::string(name)
                             : fmt::format("{} (operation {})", name, side.operation);
}

}  // namespace

HazardPair pair_of_collision(const Toucher& earlier, const Toucher& later) {
  HazardPair pair{kind_of(earlier.kind, later.kind), side_of(earlier), side_of(later)};
  // What one graph lacks it lacks wherever it is launched.
  if (is_of_one_launch(earlier, later)) pair.first.launch_site = pair.second.launch_site = nullptr;
  return pair;
}

HazardPair pair_of_early_end(const Toucher& user, const Ending& ending) {
  return {HazardKind::early_end, side_of(user), {ending.symbol, ending.site, nullptr, 0, nullptr}};
}

HazardPair pair_of_early_release(const Toucher& user, const StorageEnd& end) {
  return {HazardKind::early_release, side_of(user), {Symbol::count, nullptr, nullptr, 0, end.at}};
}

HazardPair pair_of_use_after_free(const Toucher& user) {
  return {HazardKind::use_after_free, side_of(user), {}};
}

HazardPair pair_of_changed_memory(const Toucher& copy) {
  const bool reads = copy.kind == AccessKind::read;
  return {reads ? HazardKind::changed_source : HazardKind::changed_destination, side_of(copy), {}};
}

HazardPair pair_of_gone_memory(const Toucher& copy) {
  return {HazardKind::gone_memory, side_of(copy), {}};
}

bool is_repeat(const HazardPair& one, const HazardPair& other) {
  return one.kind == other.kind && is_same_call(one.first, other.first) &&
         is_same_call(one.second, other.second);
}

std::string with_the_calls_of(const HazardPair& pair) {
  const bool is_of_one = pair.second.symbol == Symbol::count && pair.second.part_of == nullptr;
  if (is_of_one) return "of the same call as " + name_of(pair.first);
  return fmt::format("between the same two calls as {} and {}", name_of(pair.first),
                     name_of(pair.second));
}

}  // namespace ferry::sim
