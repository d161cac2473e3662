// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "front/report/traffic_report_samples.hpp"

namespace ferry::replay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(TrafficHtml, ShowsMemoryTheLinkPhasesAndFindings) {
  const std::string page = traffic_html(testing_report::traffic_report());
  EXPECT_THAT(page, HasSubstr("<h2>Process 12: step 1 of 1</h2>"));
  // The tenth of eleven marks is the step's; it begins after 10 of 11 microseconds.
  EXPECT_THAT(page, HasSubstr("<rect class=\"band step\" x=\"90.00%\" width=\"10.00%\""));
  EXPECT_THAT(page, HasSubstr("aria-label=\"Bytes to device over time\""));
  EXPECT_THAT(page, HasSubstr("aria-label=\"Bytes to host over time\""));
  EXPECT_THAT(page, HasSubstr("<tr><th>backward</th><td>to host</td><td>24\u00A0KiB</td>"
                              "<td>6.000</td><td>2</td>"));
  EXPECT_THAT(page, HasSubstr("<li>16-bit floats were sent"));
}

TEST(TrafficHtml, WhatComesFromOutsideIsEscaped) {
  TrafficReport report = testing_report::traffic_report();
  report.program = {"<script>"};
  traffic::testing_traffic::RecordText record;
  record.mark("phase", "<b>", 1).copy("to_device", 8192, "<i>", "aa");
  record.copy("to_device", 8192, "<i>", "aa");
  report.processes.push_back(process_traffic(13, record.read(), {}, 0));
  const std::string page = traffic_html(report);
  for (const char* const foreign : {"<script>", "<b>", "<i>"})
    EXPECT_THAT(page, Not(HasSubstr(foreign)));
}

TEST(TrafficHtml, NothingToShowIsSaid) {
  EXPECT_THAT(traffic_html({}), HasSubstr("No process copied anything."));
}

}  // namespace
}  // namespace ferry::replay
