// SPDX-License-Identifier: Apache-2.0
#include "front/traffic/traffic_records.hpp"

#include <gtest/gtest.h>

#include "front/traffic/traffic_samples.hpp"

namespace ferry::traffic {
namespace {

using testing_traffic::RecordText;

TEST(TrafficRecords, CallsBelongToTheMomentOfTheMarksBeforeThem) {
  RecordText record;
  record.copy("to_device", 1, "a.py:1").mark("micro_step", "", 2).mark("phase", "backward", 3);
  record.mark("range", "layer 1", 0).copy("to_host", 2, "a.py:2", "cc", true).wait("a.py:3");
  const Records records = record.end().read();
  ASSERT_EQ(records.copies.size(), 2U);
  EXPECT_EQ(records.moment_of(records.copies[0]).phase, "other");
  EXPECT_EQ(records.moment_of(records.copies[0]).step, 1U);
  const Moment& moment = records.moment_of(records.copies[1]);
  EXPECT_EQ(moment.phase, "backward");
  EXPECT_EQ(moment.step, 3U);
  EXPECT_EQ(moment.micro_step, 2U);
  EXPECT_EQ(moment.range, "layer 1");
  EXPECT_EQ(records.copies[1].way, Way::to_host);
  EXPECT_EQ(records.copies[1].caller, (Caller{"aten::copy_", "a.py:2"}));
  EXPECT_TRUE(records.copies[1].contents->widened);
  EXPECT_FALSE(records.copies[0].contents);
  ASSERT_EQ(records.waits.size(), 1U);
  EXPECT_EQ(records.moment_of(records.waits[0]).phase, "backward");
  EXPECT_TRUE(records.complete);
}

TEST(TrafficRecords, MemoryAndPhasesAreKeptOverTime) {
  RecordText record;
  record.mark("allocated", "", 500).mark("phase", "forward", 1).mark("parameters", "", 10);
  record.mark("parameters", "", 7);
  const Records records = record.read();
  ASSERT_EQ(records.memory.size(), 4U);
  EXPECT_EQ(records.memory[1].in_use, Bytes{3072});
  EXPECT_EQ(records.memory[1].allocated, Bytes{500});
  EXPECT_EQ(records.memory[1].at_ps, 2'000'000);
  ASSERT_EQ(records.phases.size(), 1U);
  EXPECT_EQ(records.parameters, 10U);
  EXPECT_FALSE(records.complete);
}

TEST(TrafficRecords, ALineThatIsCutOffEndsTheRecord) {
  const std::string whole = testing_traffic::two_micro_steps().text();
  for (std::size_t length = 0; length < whole.size(); length += 7) {
    std::istringstream stream(whole.substr(0, length));
    const Records records = read_records(stream);
    EXPECT_FALSE(records.complete);
    EXPECT_LE(records.copies.size(), 6U);
  }
}

TEST(TrafficRecords, ForeignLinesDoNoHarm) {
  for (const char* const text :
       {"", "\n", "[]\n", "3\n", "{}\n", R"({"is":3})", R"({"is":"copy"})", "{\"is\":\"mark\"}\n",
        R"({"is":"copy","mark":99,"way":"sideways","bytes":1})"}) {
    std::istringstream stream(text);
    EXPECT_TRUE(read_records(stream).copies.empty()) << text;
  }
}

TEST(TrafficRecords, CopiesComeInTheOrderOfTheirCalls) {
  std::istringstream stream(
      R"({"is":"mark","kind":"phase","name":"step","value":1,"at_ps":0,"in_use_bytes":[]})"
      "\n"
      R"({"is":"copy","mark":1,"way":"to_host","bytes":2,"pinned":true,"blocks":false,"call":"c","operator":"","place":""})"
      "\n"
      R"({"is":"copy","mark":0,"way":"to_host","bytes":1,"pinned":true,"blocks":false,"call":"c","operator":"","place":""})"
      "\n");
  const Records records = read_records(stream);
  ASSERT_EQ(records.copies.size(), 2U);
  EXPECT_EQ(records.copies[0].bytes, Bytes{1});
}

}  // namespace
}  // namespace ferry::traffic
