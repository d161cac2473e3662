// SPDX-License-Identifier: Apache-2.0
// The memo of a pickle: values that it refers to again, by number. Picklers count from 0, so a
// vector holds them; a number far beyond what the file has stored so far goes to a map instead, so
// that no number in a file can make the memo larger than the number of its entries.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "front/traces/pickle/pickle_document.hpp"

namespace ferry::replay {

class PickleMemo {
 public:
  void put(std::uint64_t number, PickleValue value);
  // Under the next number: how many have been stored so far, as MEMOIZE counts them.
  void put_next(PickleValue value) { put(stored_, value); }
  [[nodiscard]] std::optional<PickleValue> get(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t memory_bytes() const;

 private:
  std::vector<PickleValue> dense_;               // empty where nothing was stored
  std::map<std::uint64_t, PickleValue> sparse_;  // a tree: its keys are the file's choice
  std::uint64_t stored_ = 0;                     // distinct numbers
};

}  // namespace ferry::replay
