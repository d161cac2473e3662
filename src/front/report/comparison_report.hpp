// SPDX-License-Identifier: Apache-2.0
// A comparison for people and for programs.
#pragma once

#include <string>

#include "front/report/comparison.hpp"

namespace ferry::replay {

[[nodiscard]] std::string comparison_table(const Comparison& comparison);

// {"runs":[{"allocator", "exit", "peak_allocated_bytes", "peak_reserved_bytes",
// "min_capacity_bytes", "driver_calls":{name: count}, "driver_ms"}]}; what is not known is null.
[[nodiscard]] std::string comparison_json(const Comparison& comparison);

// The program as one would type it.
[[nodiscard]] std::string program_line(const Comparison& comparison);

}  // namespace ferry::replay
