// SPDX-License-Identifier: Apache-2.0
#include "front/report/report_table.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "front/report/report_samples.hpp"

namespace ferry::replay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

TEST(Wrap, BreaksAtSpacesAndKeepsColumns) {
  EXPECT_EQ(wrap("", 4, 20), "");
  EXPECT_EQ(wrap("short", 4, 20), "short");
  EXPECT_EQ(wrap("one two three four", 4, 16), "one two\n    three four");
  EXPECT_EQ(wrap("a   b", 0, 20), "a   b");
  EXPECT_EQ(wrap("   b", 0, 20), "   b");
  EXPECT_EQ(wrap("averyveryverylongword x", 2, 10), "averyveryverylongword\n  x");
  EXPECT_EQ(wrap("end ", 0, 20), "end ");
}

TEST(ReportTable, HasEveryFigure) {
  EXPECT_THAT(render_table(sample_report()),
              AllOf(HasSubstr("step.pickle: PyTorch snapshot, 8 events\n"), HasSubstr("100 MiB"),
                    HasSubstr("120 MiB   1.200 x live"), HasSubstr("101 MiB   1.010 x live"),
                    HasSubstr("5 calls, 1.250 ms: 4 create, 1 map"), HasSubstr("driver, pass 2"),
                    HasSubstr("none"), HasSubstr("38 ns median, 212 ns p99"),
                    HasSubstr("Driver: stand-in (modelled), schedule lazy."),
                    HasSubstr("modelled with the table a100"), HasSubstr("counts as free")));
}

TEST(ReportTable, TheSmallestCapacityIsARatioToo) {
  ReplayReport report = sample_report();
  DeviceResult& device = report.files[0].devices[0];
  EXPECT_THAT(render_table(report), Not(HasSubstr("smallest capacity")));
  device.capacity = 110_MiB;
  EXPECT_THAT(render_table(report), HasSubstr("110 MiB   1.100 x live"));
  device.capacity = device.min_capacity = 102_MiB;
  EXPECT_THAT(render_table(report), AllOf(HasSubstr("smallest capacity          102 MiB   1.020 x"),
                                          Not(HasSubstr("capacity given"))));
}

TEST(ReportTable, WhatIsUnknownIsSaid) {
  ReplayReport report = sample_report();
  report.files[0].devices[0].recorded_peak_reserved.reset();
  report.files[0].devices[0].pair_ns_p50 = 0;
  report.schedule = "random";
  report.seed = 12;
  EXPECT_THAT(render_table(report), AllOf(HasSubstr("not in the file"), Not(HasSubstr("ns median")),
                                          HasSubstr("schedule random, seed 12")));
}

TEST(ReportTable, AnOutOfMemoryReportKeepsItsLines) {
  ReplayReport report = sample_report();
  DeviceResult& device = report.files[0].devices[0];
  device.completed = false;
  device.out_of_memory = true;
  device.error = "event 3 asks for 2 MiB.\nlargest live blocks:\n  1 MiB at 0x1000";
  EXPECT_THAT(render_table(report),
              AllOf(HasSubstr("did not complete      out of memory\n"),
                    HasSubstr("    event 3 asks for 2 MiB.\n    largest live blocks:\n"
                              "      1 MiB at 0x1000\n")));
  device.out_of_memory = false;
  EXPECT_THAT(render_table(report), HasSubstr("a check failed"));
}

TEST(ReportTable, DevicesOfOneFileAreApart) {
  ReplayReport report = sample_report();
  report.files[0].devices.push_back(sample_device());
  report.files[0].devices[1].device = 1;
  report.files[0].notes = {"something was assumed."};
  EXPECT_THAT(render_table(report),
              AllOf(HasSubstr("step.pickle, device 0: "), HasSubstr("step.pickle, device 1: "),
                    HasSubstr("  note: something was assumed.\n")));
}

TEST(ReportTable, NoLineIsWiderThanATerminal) {
  ReplayReport report = sample_report();
  DeviceResult& device = report.files[0].devices[0];
  for (CallTally& tally : device.passes[0].calls.by_kind) tally.calls = 123'456'789;
  device.passes[0].calls.event_calls = 123'456'789;
  report.files[0].notes = {fmt::format("{:a>60} {:b>60}", "", "")};
  EXPECT_LE(longest_line(render_table(report)), 100U);
}

TEST(ReportTable, FiguresAFewMegabytesApartDiffer) {
  ReplayReport report = sample_report();
  DeviceResult& device = report.files[0].devices[0];
  device.unlimited_peak_reserved = 3696_MiB;
  device.min_capacity = 3694_MiB;
  EXPECT_THAT(render_table(report), AllOf(HasSubstr("3.609 GiB"), HasSubstr("3.607 GiB")));
}

TEST(ReportTable, WithoutAnyResultThereIsNothingToExplain) {
  ReplayReport report = sample_report();
  report.files[0].devices.clear();
  report.files[0].error = "step.pickle is empty";
  report.notes = {"Left out: a.txt is no known trace."};
  EXPECT_EQ(render_table(report),
            "step.pickle: not replayed\n\n  note: Left out: a.txt is no known trace.\n\n");
}

TEST(ReportTable, AFileThatWasNotReadIsNamed) {
  ReplayReport report = sample_report();
  report.files.emplace_back();
  report.files[1].name = "cut.pickle";
  report.files[1].error = "cut.pickle is cut";
  EXPECT_THAT(render_table(report), HasSubstr("cut.pickle: not replayed\n"));
}

}  // namespace
}  // namespace ferry::replay
