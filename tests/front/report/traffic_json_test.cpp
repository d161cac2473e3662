// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "front/report/traffic_report_samples.hpp"

namespace ferry::replay {
namespace {

using Json = nlohmann::json;

TEST(TrafficJson, HasEveryStepAndWhatWasFound) {
  const Json json = Json::parse(traffic_json(testing_report::traffic_report()));
  EXPECT_EQ(json["program"], Json::array({"python", "train.py"}));
  EXPECT_EQ(json["gpu"], "h200-pcie5");
  EXPECT_EQ(json["values"], "cpu");
  const Json& process = json["processes"].at(0);
  EXPECT_EQ(process["process"], 12);
  EXPECT_EQ(process["complete"], true);
  EXPECT_EQ(process["parameters"], 4096);
  EXPECT_EQ(process["typical_step"], 1);
  const Json& backward = process["steps"].at(0)["phases"].at(2);
  EXPECT_EQ(backward["phase"], "backward");
  EXPECT_EQ(backward["waits"], 2);
  EXPECT_EQ(backward["copies"].at(1)["direction"], "to_host");
  EXPECT_EQ(backward["copies"].at(1)["bytes"], 24576);
  EXPECT_EQ(backward["copies"].at(1)["bytes_per_parameter"], 6.0);
  EXPECT_EQ(backward["callers"].at(0)["place"], "engine.py:4");
  EXPECT_EQ(backward["waiters"].at(0)["calls"], 2);
  const Json& findings = process["findings"];
  EXPECT_EQ(findings["repeated"].at(0)["moved_bytes"], 32768);
  EXPECT_EQ(findings["repeated"].at(0)["copies"].size(), 3U);
  EXPECT_EQ(findings["widened"].at(0)["needed_bytes"], 8192);
  EXPECT_EQ(findings["each_micro_step"]["micro_steps"], 2);
}

TEST(TrafficJson, WhatIsNotKnownIsNull) {
  TrafficReport report = testing_report::traffic_report();
  report.gpu.clear();
  report.with_values = false;
  report.processes[0].parameters = 0;
  report.processes[0].findings.accumulated.clear();
  const Json json = Json::parse(traffic_json(report));
  EXPECT_EQ(json["gpu"], nullptr);
  EXPECT_EQ(json["values"], "off");
  const Json& process = json["processes"].at(0);
  EXPECT_EQ(process["parameters"], nullptr);
  EXPECT_EQ(process["findings"]["each_micro_step"], nullptr);
  EXPECT_EQ(process["steps"].at(0)["phases"].at(2)["copies"].at(0)["bytes_per_parameter"], nullptr);
}

}  // namespace
}  // namespace ferry::replay
