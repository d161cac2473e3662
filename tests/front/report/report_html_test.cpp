// SPDX-License-Identifier: Apache-2.0
#include "front/report/report_html.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <locale>

#include "front/report/report_samples.hpp"

namespace ferry::replay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The page without its style sheet, whose text is not markup.
std::string body_of(const ReplayReport& report) {
  const std::string html = render_html(report);
  return html.substr(html.find("<body>"), html.find("</body>") + 7 - html.find("<body>"));
}

TEST(ReportHtml, IsOneDocumentThatNeedsNothingElse) {
  const std::string html = render_html(sample_report());
  EXPECT_THAT(html, StartsWith("<!DOCTYPE html>\n<html lang=\"en\">"));
  EXPECT_THAT(html, HasSubstr("<meta charset=\"utf-8\">"));
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme: dark"));
  for (const char* outside :
       {"http:", "https:", "<script", "<link", "<img", "url(", "@import", "src="}) {
    EXPECT_THAT(html, Not(HasSubstr(outside)));
  }
  EXPECT_EQ(misnested_element(html), "");
}

TEST(ReportHtml, SaysTheResultInWordsPicturesAndFigures) {
  const std::string body = body_of(sample_report());
  EXPECT_THAT(body, HasSubstr("Driver: stand-in (modelled), schedule lazy. Cost table: a100."));
  EXPECT_THAT(body, HasSubstr("<h2><bdi>step.pickle</bdi></h2>"));
  EXPECT_THAT(body, HasSubstr("PyTorch snapshot, device 0, 8 events"));
  EXPECT_THAT(body, HasSubstr("<p class=\"result\">Ferry held at most 101"));
  EXPECT_THAT(body, HasSubstr("<p class=\"details\">The cold pass made 5 driver calls"));
  EXPECT_THAT(body, HasSubstr("<path class=\"ferry\" d=\"M"));
  EXPECT_THAT(body, HasSubstr("modelled cost (a100)"));
  EXPECT_THAT(body, HasSubstr("modelled with the table a100, not measured"));
  EXPECT_THAT(body, Not(HasSubstr("All files")));  // there is one
}

TEST(ReportHtml, EscapesWhateverComesFromOutside) {
  const std::string hostile = "<script>&\"'\xff";
  const std::string escaped = "&lt;script&gt;&amp;&quot;&#39;\uFFFD";
  ReplayReport report = sample_report();
  report.costs = report.driver = report.schedule = report.error = hostile;
  FileResult& file = report.files[0];
  file.name = file.format = hostile;
  file.notes = {hostile};
  file.error = hostile;
  file.devices[0].error = hostile + "\n" + hostile;
  report.files.push_back(file);
  const std::string body = body_of(report);
  EXPECT_EQ(misnested_element(body), "");
  EXPECT_THAT(body, Not(HasSubstr("<script")));
  EXPECT_THAT(body, Not(HasSubstr("\xff")));
  EXPECT_THAT(body, HasSubstr("<h2><bdi>" + escaped + "</bdi></h2>"));
  EXPECT_THAT(body, HasSubstr("<li>" + escaped + "</li>"));
  EXPECT_THAT(body, HasSubstr("over the events of " + escaped + "</title>"));
  EXPECT_THAT(body, HasSubstr("modelled cost (" + escaped + ")"));
}

TEST(ReportHtml, ShowsAFileThatCouldNotBeRead) {
  ReplayReport report = sample_report();
  FileResult broken;
  broken.name = "broken.pickle";
  broken.error = "holds an unknown opcode, at byte 12";
  report.files.push_back(broken);
  const std::string body = body_of(report);
  EXPECT_EQ(misnested_element(body), "");
  EXPECT_THAT(body, HasSubstr("<p class=\"error\">The file could not be replayed: holds an unknown "
                              "opcode, at byte 12</p>"));
  EXPECT_THAT(body, HasSubstr("All files"));
  EXPECT_THAT(body, HasSubstr("<section id=\"file-2\">"));
}

TEST(ReportHtml, KeepsTheLinesOfAnOutOfMemoryReport) {
  ReplayReport report = sample_report();
  DeviceResult& device = report.files[0].devices[0];
  device.completed = false;
  device.out_of_memory = true;
  device.error = "out of memory\n  live  90 MiB";
  EXPECT_THAT(body_of(report),
              HasSubstr("<pre class=\"error\">out of memory\n  live  90 MiB</pre>"));
}

TEST(ReportHtml, ShowsEveryDeviceUnderItsOwnName) {
  ReplayReport report = sample_report();
  FileResult& file = report.files[0];
  file.devices.push_back(sample_device());
  file.devices[1].device = 3;
  file.worst_device = 1;
  const std::string body = body_of(report);
  EXPECT_EQ(misnested_element(body), "");
  EXPECT_THAT(body, HasSubstr("2 devices; the worst ratio is that of device 3"));
  EXPECT_THAT(body, HasSubstr("<h3>On device 0 "));
  EXPECT_THAT(body, HasSubstr("<h3>On device 3 "));
  EXPECT_THAT(body, HasSubstr("id=\"chart-1-1-title\""));
  EXPECT_THAT(body, HasSubstr("id=\"chart-1-2-title\""));
}

TEST(ReportHtml, NamesTheDeviceThatFailedAndWhatWasLeftOut) {
  ReplayReport report = sample_report();
  FileResult& file = report.files[0];
  file.devices.push_back(sample_device());
  file.devices[1].device = 3;
  file.devices[1].completed = false;
  file.worst_device = 1;
  report.notes = {"Left out: <a>."};
  const std::string body = body_of(report);
  EXPECT_EQ(misnested_element(body), "");
  EXPECT_THAT(body, HasSubstr("2 devices; what failed is device 3"));
  EXPECT_THAT(body, HasSubstr("<li>Left out: &lt;a&gt;.</li>"));
}

TEST(ReportHtml, OfNothingSaysSo) {
  ReplayReport report;
  report.error = "there is no driver";
  const std::string body = body_of(report);
  EXPECT_EQ(misnested_element(body), "");
  EXPECT_THAT(body, HasSubstr("No file was replayed."));
  EXPECT_THAT(body, HasSubstr("<p class=\"error\">Nothing was replayed: there is no driver</p>"));
}

TEST(ReportHtml, OfAReplayWithoutSamplesHasNoChart) {
  ReplayReport report = sample_report();
  report.files[0].devices[0].timeline.clear();
  const std::string body = body_of(report);
  EXPECT_EQ(misnested_element(body), "");
  EXPECT_THAT(body, Not(HasSubstr("<figure")));
  EXPECT_THAT(body, HasSubstr("no memory over time to draw"));
}

// A tooth at every event, so that nothing but thinning keeps the page small.
TEST(ReportHtml, StaysSmallForLongTraces) {
  ReplayReport report = sample_report();
  DeviceResult& device = report.files[0].devices[0];
  device.events = 50'000;
  device.timeline.clear();
  device.recorded_reserved.clear();
  device.marks.clear();
  for (std::uint32_t event = 0; event < 50'000; ++event) {
    const Bytes live = event % 2 == 0 ? 40_MiB : Bytes{(90u << 20) + event * 97u};
    device.timeline.push_back({event, live, live + Bytes{event * 31u}});
    device.recorded_reserved.push_back({event, live + Bytes{event * 57u}});
    device.marks.push_back({event, event % 9});
  }
  EXPECT_LT(render_html(report).size(), 150'000u);
}

struct CommaNumbers : std::numpunct<char> {
  [[nodiscard]] char do_decimal_point() const override { return ','; }
  [[nodiscard]] std::string do_grouping() const override { return "\2"; }
};

TEST(ReportHtml, DoesNotDependOnTheLocale) {
  const std::string expected = render_html(sample_report());
  const std::locale before = std::locale::global(std::locale(std::locale(), new CommaNumbers));
  const std::string other = render_html(sample_report());
  std::locale::global(before);
  EXPECT_EQ(other, expected);
}

}  // namespace
}  // namespace ferry::replay
