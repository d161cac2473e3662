// SPDX-License-Identifier: Apache-2.0
#include "sim/traffic/traffic_log.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

namespace ferry::sim {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class TrafficLogTest : public testing::Test {
 protected:
  TrafficLogTest() { log.keep_in(path.string()); }
  ~TrafficLogTest() override { std::filesystem::remove(path); }

  std::vector<Json> lines() {
    log.end();
    std::vector<Json> found;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) found.push_back(Json::parse(line));
    return found;
  }
  static CopyRecord copy(std::uint64_t bytes) {
    return {"cuMemcpyHtoDAsync", {known_operator("aten::copy_", "train.py:8")}, "to_device", bytes};
  }

  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("ferry_traffic_log_test_" + std::to_string(getpid()));
  TrafficLog log;
};

TEST_F(TrafficLogTest, AFileIsMadeOnlyWhenThereIsSomethingToWrite) {
  EXPECT_TRUE(log.is_on());
  EXPECT_TRUE(lines().empty());
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(TrafficLogTest, WhatHappenedComesInItsOrder) {
  const std::array<std::uint64_t, 2> in_use{4096, 0};
  log.add_mark("phase", "backward", 3, 81, in_use);
  const auto record = log.add_copy(copy(512));
  log.add_wait("cuStreamSynchronize", {known_operator("", "train.py:9")});
  record->contents = CopyContents{0x12, false, true};
  record->time = std::make_shared<TimedTask>();
  record->time->ended = true;
  record->time->begin = 5;
  record->time->end = 9;
  record->done = true;
  const std::vector<Json> found = lines();
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0], Json::parse(R"({"is":"mark","kind":"phase","name":"backward","value":3,
                                      "at_ps":81,"in_use_bytes":[4096,0]})"));
  EXPECT_EQ(found[1], Json::parse(R"({"is":"wait","mark":1,"call":"cuStreamSynchronize",
                                      "operator":"","place":"train.py:9"})"));
  EXPECT_EQ(found[2],
            Json::parse(R"({"is":"copy","mark":1,"way":"to_device","bytes":512,"pinned":true,
                            "blocks":false,"call":"cuMemcpyHtoDAsync","operator":"aten::copy_",
                            "place":"train.py:8","device":0,"stream":0,"begin_ps":5,"end_ps":9,
                            "digest":"0000000000000012","zero":false,"widened":true})"));
  EXPECT_EQ(found[3], Json::parse(R"({"is":"end"})"));
}

TEST_F(TrafficLogTest, CopiesStandWhereTheyWereQueued) {
  const auto first = log.add_copy(copy(1));
  const auto second = log.add_copy(copy(2));
  second->done = true;
  log.add_mark("phase", "step", 1, 0, {});
  first->done = true;
  const auto third = log.add_copy(copy(3));
  const std::vector<Json> found = lines();
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[1]["bytes"], 1);
  EXPECT_EQ(found[1]["mark"], 0);
  EXPECT_EQ(found[2]["bytes"], 2);
  EXPECT_EQ(found[3]["mark"], 1);
}

TEST_F(TrafficLogTest, WhatNeverRanIsWrittenWithoutItsTimes) {
  auto record = copy(7);
  record.time = std::make_shared<TimedTask>();
  static_cast<void>(log.add_copy(std::move(record)));
  const std::vector<Json> found = lines();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_FALSE(found[0].contains("begin_ps"));
  EXPECT_FALSE(found[0].contains("digest"));
}

TEST_F(TrafficLogTest, AFolderThatIsNotThereIsSaidOnce) {
  TrafficLog nowhere;
  nowhere.keep_in("/no/such/folder/1.jsonl");
  testing::internal::CaptureStderr();
  nowhere.add_wait("cuStreamSynchronize", {});
  nowhere.add_wait("cuStreamSynchronize", {});
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("/no/such/folder/1.jsonl"));
  EXPECT_FALSE(nowhere.is_on());
}

TEST_F(TrafficLogTest, AChildLeavesTheFileToItsParent) {
  log.add_wait("cuStreamSynchronize", {});
  TrafficLog child = log;
  child.leave();
  EXPECT_FALSE(child.is_on());
  EXPECT_EQ(lines().size(), 2U);
}

}  // namespace
}  // namespace ferry::sim
