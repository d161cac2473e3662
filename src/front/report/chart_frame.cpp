// SPDX-License-Identifier: Apache-2.0
#include "front/report/chart_frame.hpp"

#include <fmt/format.h>

#include <iterator>

namespace ferry::replay {

void add_axes(std::string& out, const Axis& up, const Axis& along) {
  out += "<svg aria-hidden=\"true\"><g class=\"axis\">\n";
  for (const AxisTick& tick : up.ticks) {
    fmt::format_to(std::back_inserter(out),
                   "<line x1=\"0\" x2=\"100%\" y1=\"{0:.2f}%\" y2=\"{0:.2f}%\"/>"
                   "<text x=\"-8\" y=\"{0:.2f}%\" dy=\".35em\">{1}</text>\n",
                   (1 - tick.position) * 100, tick.label);
  }
  for (const AxisTick& tick : along.ticks) {
    fmt::format_to(std::back_inserter(out),
                   "<text class=\"middle\" x=\"{:.2f}%\" y=\"100%\" dy=\"1.5em\">{}</text>\n",
                   tick.position * 100, tick.label);
  }
  out += "</g></svg>\n";
}

}  // namespace ferry::replay
