// SPDX-License-Identifier: Apache-2.0
#include "front/report/html_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "front/report/report_samples.hpp"

namespace ferry::replay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(DeviceTables, HoldTheFiguresOfTheDevice) {
  DeviceResult device = sample_device();
  device.min_capacity = 104_MiB;
  device.capacity = 130_MiB;
  device.unlimited_peak_reserved = 110_MiB;
  device.pair_ns_p99 = 1211.6;
  const std::string html = device_tables(device, "a100");
  EXPECT_EQ(misnested_element(html), "");
  EXPECT_THAT(html, HasSubstr("Live, as requested</th><td>100\u00A0MiB</td><td>1.000×"));
  EXPECT_THAT(html, HasSubstr("Held by Ferry</th><td>101\u00A0MiB</td><td>1.010×"));
  EXPECT_THAT(html, HasSubstr("memory unlimited</th><td>110\u00A0MiB</td><td>1.100×"));
  EXPECT_THAT(html, HasSubstr("PyTorch, as recorded</th><td>120\u00A0MiB</td><td>1.200×"));
  EXPECT_THAT(html, HasSubstr("Smallest capacity</th><td>104\u00A0MiB</td><td>1.040×"));
  EXPECT_THAT(html, HasSubstr("Capacity of this run</th><td>130\u00A0MiB</td><td>1.300×"));
  EXPECT_THAT(html, HasSubstr("Events</th><td>8</td>"));
  EXPECT_THAT(html, HasSubstr("Passes completed</th><td>2</td>"));
  EXPECT_THAT(html, HasSubstr("median</th><td>38 ns</td>"));
  EXPECT_THAT(html, HasSubstr("99th percentile</th><td>1,212 ns</td>"));
}

TEST(DeviceTables, ShowTheColdAndTheLastPass) {
  DeviceResult device = sample_device();
  device.passes[1].calls.by_kind[static_cast<std::size_t>(DriverCall::unmap)].calls = 7;
  device.passes[1].calls.event_calls = 1234;
  const std::string html = device_tables(device, "a100");
  EXPECT_THAT(html, HasSubstr("cold pass</th><th scope=\"col\">pass 2</th>"));
  EXPECT_THAT(html, HasSubstr("create</th><td>4</td><td>0</td>"));
  EXPECT_THAT(html, HasSubstr("unmap</th><td>0</td><td>7</td>"));
  EXPECT_THAT(html, HasSubstr("all driver calls</th><td>5</td><td>7</td>"));
  EXPECT_THAT(html, HasSubstr("event calls</th><td>0</td><td>1,234</td>"));
  EXPECT_THAT(html, HasSubstr("modelled cost (a100)</th><td>1.25 ms</td><td>0.00 ms</td>"));
  EXPECT_THAT(html, Not(HasSubstr("synchronize")));  // made by neither pass
}

TEST(DeviceTables, LeaveOutWhatIsNotKnown) {
  const std::string html = device_tables(DeviceResult{}, "a100");
  EXPECT_EQ(misnested_element(html), "");
  EXPECT_THAT(html, Not(HasSubstr("PyTorch")));
  EXPECT_THAT(html, Not(HasSubstr("apacity")));
  EXPECT_THAT(html, Not(HasSubstr("Driver calls")));
  EXPECT_THAT(html, Not(HasSubstr(" ns")));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
}

TEST(DeviceTables, OfOnePassHaveOneColumn) {
  DeviceResult device = sample_device();
  device.passes.resize(1);
  EXPECT_THAT(device_tables(device, "a100"), HasSubstr("all driver calls</th><td>5</td></tr>"));
}

TEST(OverviewTable, ShowsTheWorstDeviceOfEachFile) {
  ReplayReport report = sample_report();
  report.files.push_back(report.files[0]);
  FileResult& second = report.files[1];
  second.name = "<two>";
  second.devices.push_back(second.devices[0]);
  second.devices[1].peak_reserved = 150_MiB;
  second.worst_device = 1;
  FileResult broken;
  broken.name = "broken";
  broken.error = "is empty";
  report.files.push_back(broken);

  const std::string html = overview_table(report);
  EXPECT_EQ(misnested_element(html), "");
  EXPECT_THAT(html, HasSubstr("<a href=\"#file-1\"><bdi>step.pickle</bdi></a>"));
  EXPECT_THAT(html, HasSubstr("<a href=\"#file-2\"><bdi>&lt;two&gt;</bdi></a>"));
  EXPECT_THAT(html, HasSubstr("<b>1.010×</b></td><td>1.200×</td><td>–</td><td>5</td><td>0</td>"));
  EXPECT_THAT(html, HasSubstr("<b>1.500×</b>"));
  EXPECT_THAT(html, HasSubstr("<bdi>broken</bdi></a></td><td class=\"badges\">" +
                              file_badge(broken) + "</td><td colspan=\"7\"></td>"));
}

TEST(OverviewTable, OfOnePassHasNoLastOne) {
  ReplayReport report = sample_report();
  report.files[0].devices[0].passes.resize(1);
  EXPECT_THAT(overview_table(report), HasSubstr("<td>5</td><td>–</td></tr>"));
}

TEST(OverviewTable, ShowsTheDeviceThatFailed) {
  ReplayReport report = sample_report();
  FileResult& file = report.files[0];
  file.devices.push_back(sample_device());
  file.devices[1].completed = false;
  file.devices[1].out_of_memory = true;
  file.devices[1].events = 77;
  file.worst_device = 1;
  EXPECT_THAT(overview_table(report),
              HasSubstr(device_badge(file.devices[1]) + "</td><td>77</td>"));
}

TEST(MemoryTable, NamesItsColumnForFiguresOfAnyUnit) {
  EXPECT_THAT(device_tables(sample_device(), "a100"), HasSubstr("<th scope=\"col\">size</th>"));
}

TEST(FileBadge, TellsHowItWent) {
  FileResult file = sample_report().files[0];
  EXPECT_THAT(file_badge(file), HasSubstr("completed"));
  file.devices.push_back(file.devices[0]);
  file.devices[1].completed = false;
  file.worst_device = 1;
  EXPECT_THAT(file_badge(file), HasSubstr("failed"));
  file.devices[1].out_of_memory = true;
  EXPECT_THAT(file_badge(file), HasSubstr("out of memory"));
  EXPECT_THAT(device_badge(file.devices[0]), HasSubstr("completed"));
  file.error = "is empty";
  EXPECT_THAT(file_badge(file), HasSubstr("not replayed"));
}

TEST(WorstDevice, IsNoneWhereThereIsNoDevice) {
  FileResult file = sample_report().files[0];
  EXPECT_EQ(worst_device_of(file), &file.devices[0]);
  file.worst_device = 1;
  EXPECT_EQ(worst_device_of(file), nullptr);
}

}  // namespace
}  // namespace ferry::replay
