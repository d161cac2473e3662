// SPDX-License-Identifier: Apache-2.0
#include "front/traces/reserve_history.hpp"

#include <algorithm>

namespace ferry::replay {
namespace {

constexpr std::int64_t kFurthest = std::int64_t{1} << 62;

}  // namespace

std::optional<ReserveHistory> rebuild_reserve(Bytes at_end,
                                              const std::vector<ReserveChange>& changes) {
  if (at_end.count > static_cast<std::uint64_t>(kFurthest)) return std::nullopt;
  std::vector<std::int64_t> levels(changes.size() + 1);  // before the first change, after each
  levels.back() = static_cast<std::int64_t>(at_end.count);
  for (std::size_t i = changes.size(); i-- > 0;) {
    const auto bytes = static_cast<std::int64_t>(changes[i].bytes.count);
    levels[i] = changes[i].grows ? levels[i + 1] - bytes : levels[i + 1] + bytes;
    if (levels[i] > kFurthest || levels[i] < -kFurthest) return std::nullopt;
  }

  ReserveHistory history;
  const std::int64_t lowest = *std::min_element(levels.begin(), levels.end());
  history.raised = lowest < 0;
  const std::int64_t lift = history.raised ? -lowest : 0;
  history.points.reserve(levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Bytes reserved{static_cast<std::uint64_t>(levels[i] + lift)};
    history.points.push_back({i == 0 ? 0 : changes[i - 1].event, reserved});
    history.peak = std::max(history.peak, reserved);
  }
  return history;
}

}  // namespace ferry::replay
