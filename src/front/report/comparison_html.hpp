// SPDX-License-Identifier: Apache-2.0
// The page of `ferry compare --html`: the memory of all runs over the operators of the program, in
// one picture, and the table. Self-contained, without a script.
#pragma once

#include <string>

#include "front/report/comparison.hpp"

namespace ferry::replay {

[[nodiscard]] std::string comparison_html(const Comparison& comparison);

}  // namespace ferry::replay
