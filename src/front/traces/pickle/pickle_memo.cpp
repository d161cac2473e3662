// SPDX-License-Identifier: Apache-2.0
#include "front/traces/pickle/pickle_memo.hpp"

namespace ferry::replay {
namespace {

constexpr std::uint64_t kGap = 1024;       // numbers that a pickler may have skipped
constexpr std::uint64_t kSparseCost = 64;  // bytes of one map entry, about

}  // namespace

void PickleMemo::put(std::uint64_t number, PickleValue value) {
  if (!get(number)) ++stored_;
  if (number > 2 * stored_ + kGap) {
    sparse_.insert_or_assign(number, value);
    return;
  }
  if (number >= dense_.size()) dense_.resize(number + 1);
  dense_[number] = value;
}

std::optional<PickleValue> PickleMemo::get(std::uint64_t number) const {
  if (number < dense_.size() && !dense_[number].empty()) return dense_[number];
  if (sparse_.empty()) return std::nullopt;
  // The vector may have grown past a number that went to the map.
  const auto found = sparse_.find(number);
  if (found == sparse_.end()) return std::nullopt;
  return found->second;
}

std::uint64_t PickleMemo::memory_bytes() const {
  return dense_.capacity() * sizeof(dense_[0]) + sparse_.size() * kSparseCost;
}

}  // namespace ferry::replay
