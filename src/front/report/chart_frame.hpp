// SPDX-License-Identifier: Apache-2.0
// What charts have in common: a grid to draw on, which is stretched to the width of the page, and
// axes around it.
#pragma once

#include <string>

#include "front/report/chart_scale.hpp"

namespace ferry::replay {

inline constexpr double kGrid = 10'000;  // both ways; integers keep a page small

// Lines across for the ticks of `up`, labels for those of both.
void add_axes(std::string& out, const Axis& up, const Axis& along);

}  // namespace ferry::replay
