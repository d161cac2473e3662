// SPDX-License-Identifier: Apache-2.0
#include "sim/runtime/runtime_fixture.hpp"

#include <cstring>

namespace ferry::sim::runtime {

void register_fill() {
  static constexpr size_t kSizes[] = {8, 8, 4};
  ferry_sim_kernel kernel{};
  kernel.name = "fill";
  kernel.argument_count = 3;
  kernel.argument_bytes = kSizes;
  kernel.ranges = [](const ferry_sim_launch*, const void* const* arguments, ferry_sim_range* out,
                     size_t room) -> size_t {
    if (room < 1) return 1;
    std::memcpy(&out->address, arguments[0], sizeof out->address);
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, arguments[1], sizeof bytes);
    out->bytes = bytes;
    out->writes = 1;
    return 1;
  };
  kernel.run = [](const ferry_sim_launch*, const void* const* arguments, void* const* memory) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, arguments[1], sizeof bytes);
    std::memset(memory[0], *static_cast<const int*>(arguments[2]), bytes);
  };
  control<ferry_sim_register_kernel_fn>(FERRY_SIM_REGISTER_KERNEL)(&kernel);
}

}  // namespace ferry::sim::runtime
