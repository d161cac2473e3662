// SPDX-License-Identifier: Apache-2.0
#include "front/report/chart_frame.hpp"

#include <gmock/gmock.h>

namespace ferry::replay {
namespace {

using ::testing::HasSubstr;

TEST(ChartFrame, LabelsStandAtTheirTicksFromTheBottomLeft) {
  std::string out;
  add_axes(out, {.end = 4, .ticks = {{0.25, "one"}}}, {.end = 10, .ticks = {{0.5, "five"}}});
  EXPECT_THAT(out, HasSubstr("<text x=\"-8\" y=\"75.00%\" dy=\".35em\">one</text>"));
  EXPECT_THAT(out, HasSubstr("y1=\"75.00%\" y2=\"75.00%\""));
  EXPECT_THAT(out, HasSubstr("x=\"50.00%\" y=\"100%\" dy=\"1.5em\">five</text>"));
}

}  // namespace
}  // namespace ferry::replay
