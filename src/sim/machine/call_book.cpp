// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/call_book.hpp"

#include <algorithm>

namespace ferry::sim {

Verdict CallBook::enter(Symbol symbol, std::uint64_t bytes) {
  ++counts_[static_cast<std::size_t>(symbol)];
  for (LostDevice& lost : losing_) {
    if (lost.nth > 0) --lost.nth;
  }
  Verdict verdict;
  for (Watch& watch : watches_) {
    const FaultRule& rule = watch.rule;
    if (rule.function != row_of(symbol).name || !strikes(watch, bytes)) continue;
    verdict.stall += rule.stall;
    if (verdict.result != 0) continue;
    verdict.result = rule.result;
    verdict.sticky = rule.sticky;
  }
  std::erase_if(watches_, [](const Watch& watch) {
    return watch.rule.when.kind == Trigger::Kind::count && watch.seen >= watch.rule.when.last;
  });
  return verdict;
}

bool CallBook::strikes(Watch& watch, std::uint64_t bytes) {
  constexpr std::uint64_t kMillion = 1'000'000;
  const Trigger& when = watch.rule.when;
  ++watch.seen;
  switch (when.kind) {
    case Trigger::Kind::count:
      return watch.seen >= when.first;
    case Trigger::Kind::every:
      return watch.seen % when.every == 0;
    case Trigger::Kind::chance:
      return watch.random() % kMillion < when.millionths;
    case Trigger::Kind::budget:
      if (bytes > when.budget - watch.spent) return true;
      watch.spent += bytes;
      return false;
  }
  return false;
}

void CallBook::add_rule(const FaultRule& rule, std::uint64_t seed) {
  Watch watch{rule, 0, 0, {}};
  watch.random.seed(rule.when.seed.value_or(seed));
  watches_.push_back(std::move(watch));
}

std::vector<LostDevice> CallBook::take_lost() {
  const auto gone = std::stable_partition(losing_.begin(), losing_.end(),
                                          [](const LostDevice& lost) { return lost.nth > 0; });
  std::vector<LostDevice> lost(gone, losing_.end());
  losing_.erase(gone, losing_.end());
  return lost;
}

std::uint64_t CallBook::sum(const BySymbol& amounts, std::string_view name) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < kSymbols.size(); ++i) {
    if (kSymbols[i].name == name) total += amounts[i];
  }
  return total;
}

}  // namespace ferry::sim
