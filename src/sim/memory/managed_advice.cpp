// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/managed_advice.hpp"

#include <iterator>

#include "base/bytes.hpp"

namespace ferry::sim {

namespace {

constexpr std::uint64_t kHostPage = 4096;

bool is_none(const Advice& advice) {
  return !advice.read_mostly && advice.accessed_by.empty() &&
         advice.preferred.type == CU_MEM_LOCATION_TYPE_INVALID &&
         advice.prefetched.type == CU_MEM_LOCATION_TYPE_INVALID;
}

}  // namespace

void ManagedAdvice::cut(std::uint64_t address) {
  const auto before = std::prev(from_.upper_bound(address));
  from_.emplace(address, before->second);  // nothing where one begins there
}

void ManagedAdvice::change(std::uint64_t start, std::uint64_t bytes,
                           const std::function<void(Advice&)>& change) {
  const std::uint64_t first = align_down(start, kHostPage);
  const std::uint64_t last = align_up(start + bytes, kHostPage);
  cut(first);
  cut(last);
  for (auto part = from_.find(first); part->first != last; ++part) change(part->second);
}

void ManagedAdvice::visit(std::uint64_t start, std::uint64_t bytes,
                          const std::function<void(const Advice&)>& visit) const {
  for (auto part = std::prev(from_.upper_bound(start));
       part != from_.end() && part->first < start + bytes; ++part) {
    visit(part->second);
  }
}

void ManagedAdvice::forget(std::uint64_t start, std::uint64_t bytes) {
  if (from_.size() == 1) return;  // nothing was said of any
  change(start, bytes, [](Advice& advice) { advice = {}; });
  const auto first = from_.find(align_down(start, kHostPage));
  const auto end = from_.find(align_up(start + bytes, kHostPage));
  from_.erase(std::next(first), end);
  if (is_none(end->second)) from_.erase(end);
  if (first != from_.begin() && is_none(std::prev(first)->second)) from_.erase(first);
}

}  // namespace ferry::sim
