// SPDX-License-Identifier: Apache-2.0
// An operator of a framework, as a person knows it: its name and the line of the program that asked
// for it. Hazard reports name it in place of the driver's functions that it calls.
#pragma once

#include <string>
#include <string_view>

namespace ferry::sim {

struct FrameworkOperator {
  std::string name;   // "aten::add_"; empty where only the place counts
  std::string place;  // "train.py:31"; empty where it is not known
};

// The same address for the same two words. It lives as long as the process: graphs and reports keep
// it. Callable by any thread.
[[nodiscard]] const FrameworkOperator* known_operator(std::string_view name,
                                                      std::string_view place);

}  // namespace ferry::sim
