// SPDX-License-Identifier: Apache-2.0
// Which stream was given each address last. Pure bookkeeping of the replay's checks.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/ids.hpp"

namespace ferry::replay {

class LastUsers {
 public:
  // [begin, begin + size) was used by `stream`, whatever was known of it before.
  void record(DeviceAddress begin, Bytes size, StreamRef stream);

  // The streams other than `stream` that used any of the range last, each once.
  [[nodiscard]] std::vector<StreamRef> others_in(DeviceAddress begin, Bytes size,
                                                 StreamRef stream) const;

 private:
  struct Range {
    std::uint64_t end = 0;
    StreamRef stream;
  };
  using Ranges = std::map<std::uint64_t, Range>;  // by begin; disjoint

  void split_at(std::uint64_t address);
  [[nodiscard]] Ranges::const_iterator first_reaching(std::uint64_t address) const;

  Ranges ranges_;
};

}  // namespace ferry::replay
