// SPDX-License-Identifier: Apache-2.0
// What `host_races` runs.
#include "programs/host_races.hpp"

#include <array>

namespace ferry::programs {

std::span<const Group> groups() {
  static const std::array<Group, 2> all{
      {{"correct", ordered_with_the_host()}, {"faulty", racing_with_the_host()}}};
  return all;
}

}  // namespace ferry::programs
