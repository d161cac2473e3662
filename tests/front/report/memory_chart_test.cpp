// SPDX-License-Identifier: Apache-2.0
#include "front/report/memory_chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "front/report/html_style.hpp"
#include "front/report/report_samples.hpp"

namespace ferry::replay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string chart_of(const DeviceResult& device) {
  return memory_chart(device, "chart-1-1", "Memory", "In words");
}

TEST(MemoryChart, DrawsEachLineInSteps) {
  const std::string html = chart_of(sample_device());
  EXPECT_EQ(misnested_element(html), "");
  // Eight events are 10,000 units wide, 120 MiB are 10,000 units high, from the bottom.
  EXPECT_THAT(html, HasSubstr("<path class=\"live\" "
                              "d=\"M0 6667h3750v-5000h3750v6666h2500V10000H0z\"/>"));
  EXPECT_THAT(html, HasSubstr("<path class=\"ferry\" d=\"M0 5833h3750v-4250h6250\"/>"));
  EXPECT_THAT(html, HasSubstr("<path class=\"recorded\" d=\"M0 5000h5000v-5000h5000\"/>"));
}

TEST(MemoryChart, IsDescribedForThoseWhoCannotSeeIt) {
  const std::string html = memory_chart(sample_device(), "chart-2-1", "A <b>", "x & y");
  EXPECT_THAT(html, HasSubstr("role=\"img\" aria-labelledby=\"chart-2-1-title chart-2-1-text\""));
  EXPECT_THAT(html, HasSubstr("<title id=\"chart-2-1-title\">A &lt;b&gt;</title>"));
  EXPECT_THAT(html, HasSubstr("<desc id=\"chart-2-1-text\">x &amp; y</desc>"));
}

TEST(MemoryChart, HasAxesAndALegendWithThePeaks) {
  const std::string html = chart_of(sample_device());
  EXPECT_THAT(html, HasSubstr("y=\"0.00%\" dy=\".35em\">120 MiB</text>"));
  EXPECT_THAT(html, HasSubstr("y=\"100.00%\" dy=\".35em\">0</text>"));
  EXPECT_THAT(html, HasSubstr("x=\"50.00%\" y=\"100%\" dy=\"1.5em\">4</text>"));
  EXPECT_THAT(html, HasSubstr("Live, as requested: peak <b>100\u00A0MiB</b>"));
  EXPECT_THAT(html, HasSubstr("Held by Ferry: peak <b>101\u00A0MiB</b>"));
  EXPECT_THAT(html, HasSubstr("Held by PyTorch, as recorded: peak <b>120\u00A0MiB</b>"));
}

TEST(MemoryChart, MarksDriverCallsByTheirNumber) {
  DeviceResult device = sample_device();
  // Bars of 25 units; log2(1 + 3) against log2(1 + 1), the first the full height.
  device.marks = {{0, 3}, {4, 1}};
  EXPECT_THAT(chart_of(device),
              HasSubstr("<path class=\"calls\" "
                        "d=\"M0 10000v-10000h25v10000zM5000 10000v-5000h25v5000z\"/>"));
  device.marks.clear();
  EXPECT_THAT(chart_of(device), HasSubstr(">none</text>"));
  EXPECT_THAT(chart_of(device), Not(HasSubstr("class=\"calls\"")));
}

TEST(MemoryChart, ShowsTheFiguresOfTheColumnUnderThePointer) {
  const std::string html = chart_of(sample_device());
  EXPECT_EQ(occurrences(html, "<g><rect"), 8u);
  EXPECT_THAT(html, HasSubstr("<tspan>events</tspan> 3–4 · 2 driver calls</text>"
                              "<text y=\"-8\"><tspan>live</tspan> 100\u00A0MiB · "
                              "<tspan>Ferry</tspan> 101\u00A0MiB · "
                              "<tspan>PyTorch</tspan> 60\u00A0MiB</text>"));
}

TEST(MemoryChart, LeavesPyTorchOutWhereNothingWasRecorded) {
  DeviceResult device = sample_device();
  device.recorded_reserved.clear();
  device.recorded_peak_reserved.reset();
  const std::string html = chart_of(device);
  EXPECT_EQ(misnested_element(html), "");
  EXPECT_THAT(html, Not(HasSubstr("PyTorch")));
  EXPECT_THAT(html, Not(HasSubstr("class=\"recorded\"")));
}

TEST(MemoryChart, DrawsTheCapacityUnlessItIsFarAbove) {
  DeviceResult device = sample_device();
  EXPECT_THAT(chart_of(device), Not(HasSubstr("apacity")));
  device.capacity = 150_MiB;
  EXPECT_THAT(chart_of(device), HasSubstr("<path class=\"capacity\" d=\"M0 0h10000\"/>"));
  EXPECT_THAT(chart_of(device), HasSubstr("Capacity <b>150\u00A0MiB</b>"));
  device.capacity = 180_MiB;  // one and a half times what PyTorch recorded
  EXPECT_THAT(chart_of(device), HasSubstr("Capacity <b>180"));
  device.capacity = 181_MiB;
  EXPECT_THAT(chart_of(device), HasSubstr("Capacity, above the chart: <b>181"));
  device.capacity = 80_GiB;
  EXPECT_THAT(chart_of(device), Not(HasSubstr("class=\"capacity\" d=\"M0 0h10000\"")));
  EXPECT_THAT(chart_of(device), HasSubstr("Capacity, above the chart: <b>80\u00A0GiB</b>"));
}

// One event of a hundred thousand is a hundredth of a pixel wide.
TEST(MemoryChart, TheNarrowestPeakIsDrawnToItsTopAndMarked) {
  DeviceResult device = sample_device();
  device.recorded_reserved.clear();
  device.events = 100'000;
  device.timeline.clear();
  for (std::uint32_t event = 0; event < 100'000; event += 10) {
    device.timeline.push_back({event, 10_MiB, 50_MiB});
  }
  device.timeline[3333].live = 100_MiB;
  device.peak_live = 100_MiB;
  const std::string html = chart_of(device);
  EXPECT_EQ(misnested_element(html), "");
  EXPECT_THAT(html, ::testing::ContainsRegex("h3333v-9000h[0-9]+v9000"))
      << "up and down in the place of the event";
  EXPECT_THAT(html, HasSubstr("<circle class=\"peak\" cx=\"33.33%\" cy=\"0.00%\""));
  EXPECT_THAT(html, HasSubstr(">peak 100\u00A0MiB</text>"));
}

TEST(ReportStyle, AnAreaHasAnOutline) {
  // Without it an area narrower than a pixel is all but invisible.
  EXPECT_THAT(std::string(kReportStyle), HasSubstr(".live { fill: var(--live); stroke: "));
}

TEST(MemoryChart, EndsWhereTheReplayStopped) {
  DeviceResult device = sample_device();
  EXPECT_THAT(chart_of(device), Not(HasSubstr("stopped here")));
  device.completed = false;
  device.timeline.resize(2);  // up to event 3
  const std::string html = chart_of(device);
  EXPECT_EQ(misnested_element(html), "");
  EXPECT_THAT(html, HasSubstr("<path class=\"ferry\" d=\"M0 5833h3750v-4250\"/>"));
  EXPECT_THAT(html, HasSubstr("<rect class=\"unreached\" x=\"37.50%\" width=\"62.50%\""));
  EXPECT_THAT(html, HasSubstr("stopped here"));
  EXPECT_THAT(html, HasSubstr("<tspan>events</tspan> 7–8</text><text y=\"-8\">"
                              "<tspan>PyTorch</tspan> 120\u00A0MiB</text>"));
}

TEST(MemoryChart, OfNoEventsIsALevelLine) {
  DeviceResult device;
  device.completed = true;
  device.timeline = {{0, 10_MiB, 20_MiB}};
  const std::string html = chart_of(device);
  EXPECT_EQ(misnested_element(html), "");
  EXPECT_THAT(html, HasSubstr("<path class=\"ferry\" d=\"M0 0h10000\"/>"));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  EXPECT_THAT(html, Not(HasSubstr("inf")));
}

TEST(MemoryChart, OfNoMemoryStandsOnTheAxis) {
  DeviceResult device;
  device.completed = true;
  device.events = 4;
  device.timeline = {{0, 0_B, 0_B}};
  EXPECT_THAT(chart_of(device), HasSubstr("<path class=\"ferry\" d=\"M0 10000h10000\"/>"));
}

}  // namespace
}  // namespace ferry::replay
