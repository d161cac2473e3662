// SPDX-License-Identifier: Apache-2.0
#include "front/replay/last_users.hpp"

#include <algorithm>
#include <iterator>

namespace ferry::replay {

// The first range that ends after `address`.
LastUsers::Ranges::const_iterator LastUsers::first_reaching(std::uint64_t address) const {
  const auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return after;
  const auto before = std::prev(after);
  return before->second.end > address ? before : after;
}

// Makes `address` a border, where it lies inside a range.
void LastUsers::split_at(std::uint64_t address) {
  const auto after = ranges_.lower_bound(address);
  if (after == ranges_.begin()) return;
  const auto before = std::prev(after);
  if (before->second.end <= address) return;
  ranges_.emplace_hint(after, address, before->second);
  before->second.end = address;
}

void LastUsers::record(DeviceAddress begin, Bytes size, StreamRef stream) {
  const std::uint64_t end = (begin + size).value;
  split_at(begin.value);
  split_at(end);
  ranges_.erase(ranges_.lower_bound(begin.value), ranges_.lower_bound(end));
  ranges_.emplace(begin.value, Range{end, stream});
}

std::vector<StreamRef> LastUsers::others_in(DeviceAddress begin, Bytes size,
                                            StreamRef stream) const {
  std::vector<StreamRef> others;
  const std::uint64_t end = (begin + size).value;
  for (auto range = first_reaching(begin.value); range != ranges_.end() && range->first < end;
       ++range) {
    const StreamRef user = range->second.stream;
    if (user != stream && std::find(others.begin(), others.end(), user) == others.end()) {
      others.push_back(user);
    }
  }
  return others;
}

}  // namespace ferry::replay
