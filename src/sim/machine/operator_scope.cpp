// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/operator_scope.hpp"

#include <algorithm>
#include <iterator>

namespace ferry::sim {

void OperatorScope::begin(const FrameworkOperator* operation,
                          std::span<const AddressRange> inputs) {
  inputs_.insert(inputs_.end(), inputs.begin(), inputs.end());
  if (depth_++ == 0) current_ = operation;
}

bool OperatorScope::end() {
  if (depth_ == 0) return false;
  if (--depth_ > 0) return true;
  current_ = nullptr;
  inputs_.clear();
  written_.clear();
  return true;
}

bool OperatorScope::is_given(std::uint64_t address, std::uint64_t bytes) const {
  return std::ranges::any_of(inputs_, [&](const AddressRange& input) {
    return input.overlaps({address, bytes});
  });
}

std::vector<AddressRange> OperatorScope::unwritten_in(const AddressRange& range) const {
  std::vector<AddressRange> written;
  std::ranges::copy_if(written_, std::back_inserter(written),
                       [&](const AddressRange& one) { return one.overlaps(range); });
  std::ranges::sort(written, {}, &AddressRange::start);
  std::vector<AddressRange> gaps;
  std::uint64_t at = range.start;
  for (const AddressRange& one : written) {
    if (at < one.start) gaps.push_back({at, one.start - at});
    at = std::max(at, one.end());
  }
  if (at < range.end()) gaps.push_back({at, range.end() - at});
  return gaps;
}

}  // namespace ferry::sim
