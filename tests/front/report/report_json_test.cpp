// SPDX-License-Identifier: Apache-2.0
#include "front/report/report_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "front/report/report_samples.hpp"

namespace ferry::replay {
namespace {

using nlohmann::json;

json rendered(const ReplayReport& report) {
  return json::parse(render_json(report));
}

TEST(ReportJson, HasTheFieldsThatScriptsRelyOn) {
  const json root = rendered(sample_report());
  EXPECT_EQ(root["costs"], "a100");
  ASSERT_EQ(root["files"].size(), 1U);
  const json& file = root["files"][0];
  EXPECT_EQ(file["name"], "step.pickle");
  EXPECT_EQ(file["events"], 8);
  EXPECT_EQ(file["peak_live_bytes"], (100_MiB).count);
  EXPECT_EQ(file["recorded_peak_reserved_bytes"], (120_MiB).count);
  EXPECT_EQ(file["peak_reserved_bytes"], (101_MiB).count);
  EXPECT_TRUE(file["min_capacity_bytes"].is_null());
  EXPECT_EQ(file["completed"], true);
  EXPECT_TRUE(file["error"].is_null());
  ASSERT_EQ(file["passes"].size(), 2U);
  EXPECT_EQ(file["passes"][0]["driver_calls"]["create"], 4);
  EXPECT_EQ(file["passes"][0]["driver_calls"]["map"], 1);
  EXPECT_EQ(file["passes"][0]["driver_calls"].size(), kDriverCallKinds);
  EXPECT_EQ(file["passes"][0]["event_calls"], 0);
  EXPECT_EQ(file["passes"][0]["driver_ms"], 1.25);
  EXPECT_EQ(file["passes"][1]["driver_calls"]["create"], 0);
  EXPECT_EQ(file["pair_ns"]["p50"], 38.4);
  EXPECT_EQ(file["pair_ns"]["p99"], 211.6);
  ASSERT_EQ(file["devices"].size(), 1U);
}

TEST(ReportJson, SaysWhatServed) {
  ReplayReport report = sample_report();
  report.seed = 7;
  json root = rendered(report);
  EXPECT_EQ(root["driver"], "stand-in (modelled)");
  EXPECT_EQ(root["schedule"], "lazy");
  EXPECT_EQ(root["seed"], 7);
  EXPECT_TRUE(root["error"].is_null());
  report.driver = "CUDA 13.0";
  report.schedule = "";
  root = rendered(report);
  EXPECT_TRUE(root["schedule"].is_null());
}

TEST(ReportJson, UnknownFiguresAreNull) {
  ReplayReport report = sample_report();
  DeviceResult& device = report.files[0].devices[0];
  device.recorded_peak_reserved.reset();
  EXPECT_TRUE(rendered(report)["files"][0]["recorded_peak_reserved_bytes"].is_null());
  EXPECT_TRUE(rendered(report)["files"][0]["capacity_bytes"].is_null());
  device.min_capacity = 102_MiB;
  device.capacity = 102_MiB;
  device.unlimited_peak_reserved = 110_MiB;
  const json file = rendered(report)["files"][0];
  EXPECT_EQ(file["min_capacity_bytes"], (102_MiB).count);
  EXPECT_EQ(file["capacity_bytes"], (102_MiB).count);
  EXPECT_EQ(file["unlimited_peak_reserved_bytes"], (110_MiB).count);
}

TEST(ReportJson, AFileThatCouldNotBeReadHasAllFieldsToo) {
  ReplayReport report = sample_report();
  FileResult broken;
  broken.name = "cut.pickle";
  broken.path = "some/cut.pickle";
  broken.error = "some/cut.pickle ends in the middle, at byte 12";
  report.files.push_back(broken);
  const json root = rendered(report);
  const json& file = root["files"][1];
  EXPECT_EQ(file["name"], "cut.pickle");
  EXPECT_EQ(file["error"], "some/cut.pickle ends in the middle, at byte 12");
  EXPECT_EQ(file["completed"], false);
  EXPECT_TRUE(file["devices"].empty());
  EXPECT_TRUE(file["passes"].empty());
  EXPECT_TRUE(file["recorded_peak_reserved_bytes"].is_null());
  EXPECT_EQ(file["pair_ns"]["p50"], 0);
  for (const auto& [key, value] : root["files"][0].items()) EXPECT_TRUE(file.contains(key)) << key;
}

TEST(ReportJson, FiguresOfAFileAreThoseOfItsWorstDevice) {
  ReplayReport report = sample_report();
  FileResult& file = report.files[0];
  file.devices.push_back(sample_device());
  file.devices[1].device = 3;
  file.devices[1].peak_reserved = 150_MiB;
  file.devices[1].completed = false;
  file.devices[1].error = "no";
  file.worst_device = 1;
  const json root = rendered(report)["files"][0];
  EXPECT_EQ(root["device"], 3);
  EXPECT_EQ(root["peak_reserved_bytes"], (150_MiB).count);
  EXPECT_EQ(root["completed"], false);
  EXPECT_EQ(root["error"], "device 3: no");
  EXPECT_EQ(root["devices"][0]["completed"], true);
  EXPECT_EQ(root["devices"][0]["device"], 0);
  EXPECT_EQ(root["devices"][1]["completed"], false);
  EXPECT_EQ(root["devices"][1]["device"], 3);
  EXPECT_EQ(root["devices"][1]["peak_reserved_bytes"], (150_MiB).count);
}

TEST(ReportJson, HoldsNotesOnTheChoiceOfFiles) {
  ReplayReport report = sample_report();
  EXPECT_TRUE(rendered(report)["notes"].empty());
  report.notes = {"Left out: a.txt."};
  EXPECT_EQ(rendered(report)["notes"].at(0), "Left out: a.txt.");
  EXPECT_EQ(rendered(report)["files"][0]["device"], 0);
}

TEST(CostTablesJson, HoldsEveryPrice) {
  const json root = json::parse(render_cost_tables_json());
  EXPECT_TRUE(root["error"].is_null());
  const json& table = root["cost_tables"].at(0);
  EXPECT_EQ(table["name"], "a100");
  EXPECT_EQ(table["driver_calls"].size(), kDriverCallKinds);
  EXPECT_EQ(table["driver_calls"]["create"]["us_per_call"], 190);
  EXPECT_EQ(table["driver_calls"]["create"]["us_per_mib"], 1);
  EXPECT_EQ(table["driver_calls"]["unmap"]["us_per_mapping"], 1.5);
}

TEST(ReportJson, NamesMayHoldAnyBytes) {
  ReplayReport report = sample_report();
  report.files[0].name = "\xff\"\n\x01.pickle";
  report.files[0].devices[0].error = "line\nline";
  const json file = rendered(report)["files"][0];
  EXPECT_EQ(file["name"], "\xef\xbf\xbd\"\n\x01.pickle");
  EXPECT_EQ(file["devices"][0]["error"], "line\nline");
}

TEST(ReportJson, WithoutFilesThereIsStillAnObject) {
  ReplayReport report;
  report.costs = "a100";
  report.error = "no driver";
  const json root = rendered(report);
  EXPECT_EQ(root["error"], "no driver");
  EXPECT_TRUE(root["driver"].is_null());
  EXPECT_TRUE(root["files"].is_array());
}

}  // namespace
}  // namespace ferry::replay
