// SPDX-License-Identifier: Apache-2.0
#include "front/report/comparison_report.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "front/report/comparison_samples.hpp"

namespace ferry::replay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ComparisonTable, HasARowForEachAndTheReasonsOfFailures) {
  const std::string table = comparison_table(testing_report::comparison());
  EXPECT_THAT(table, HasSubstr("python train.py\non h200-pcie5 with 24 GiB a device"));
  EXPECT_THAT(table, HasSubstr("native                  1.5 GiB           2 GiB             7"
                               "      0.250 ms           1.75 GiB     0\n"));
  EXPECT_THAT(table, HasSubstr("ferry                         -               -             -"
                               "             -                  -     1\n"));
  EXPECT_THAT(table, HasSubstr("\nferry: OutOfMemoryError: no"));
}

TEST(ComparisonJson, NamesWhatItDoesNotKnowNull) {
  const auto json = nlohmann::json::parse(comparison_json(testing_report::comparison()));
  EXPECT_EQ(json["runs"][0]["peak_allocated_bytes"], 1536U << 20U);
  EXPECT_EQ(json["runs"][0]["min_capacity_bytes"], 1792U << 20U);
  EXPECT_EQ(json["runs"][0]["driver_calls"]["cuMemFree"], 2);
  EXPECT_TRUE(json["runs"][1]["peak_allocated_bytes"].is_null());
  EXPECT_TRUE(json["runs"][1]["driver_ms"].is_null());
  EXPECT_TRUE(json["runs"][1]["driver_calls"].empty());
  EXPECT_EQ(json["runs"][1]["error"], "OutOfMemoryError: no");
  EXPECT_EQ(json["program"][1], "train.py");
}

}  // namespace
}  // namespace ferry::replay
