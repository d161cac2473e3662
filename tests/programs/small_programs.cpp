// SPDX-License-Identifier: Apache-2.0
// What `small_programs` runs.
#include <array>

#include "programs/program.hpp"

namespace ferry::programs {

std::span<const Group> groups() {
  static const std::array<Group, 6> all{{{"correct", correct_orders()},
                                         {"correct", correct_memory()},
                                         {"correct", correct_graphs()},
                                         {"faulty", faulty_programs()},
                                         {"faulty", faulty_graphs()},
                                         {"faulty", faulty_host_functions()}}};
  return all;
}

}  // namespace ferry::programs
