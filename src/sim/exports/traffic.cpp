// SPDX-License-Identifier: Apache-2.0
// Exported: the control of include/ferry/sim.h that marks moments in the record of the traffic.
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "sim/exports/control.hpp"
#include "sim/machine/library.hpp"

using ferry::sim::Library;
using ferry::sim::Lock;
using ferry::sim::Machine;

int ferry_sim_traffic_mark(const char* kind, const char* name, uint64_t value) {
  constexpr std::array<std::string_view, 5> kKinds{"phase", "range", "micro_step", "parameters",
                                                   "allocated"};
  if (kind == nullptr || name == nullptr || std::ranges::find(kKinds, kind) == kKinds.end())
    return -1;
  Library::get().with_machine([&](Lock&, Machine& machine) {
    if (!Library::get().traffic().is_on()) return;
    std::vector<std::uint64_t> in_use;
    for (int device = 0; device < machine.devices(); ++device)
      in_use.push_back(machine.physical.in_use(device).count);
    Library::get().traffic().add_mark(kind, name, value, machine.engine.timeline().clock().now(),
                                      in_use);
  });
  return 0;
}
