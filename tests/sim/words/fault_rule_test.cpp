// SPDX-License-Identifier: Apache-2.0
#include "sim/words/fault_rule.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace ferry::sim {
namespace {

using testing::HasSubstr;

FaultRule fault(std::string_view text) {
  std::vector<FaultRule> rules;
  EXPECT_EQ(read_fault(rules, text), std::nullopt) << text;
  return rules.empty() ? FaultRule{} : rules[0];
}

std::string problem(std::string_view text) {
  std::vector<FaultRule> rules;
  const Problem expected = read_fault(rules, text);
  EXPECT_TRUE(rules.empty()) << text;
  return expected.value_or("");
}

TEST(FaultRule, CountsAndRanges) {
  EXPECT_EQ(fault("cuMemCreate@3:2").function, "cuMemCreate");
  EXPECT_EQ(fault("cuMemCreate@3:2").result, 2);
  EXPECT_EQ(fault("cuMemCreate@3:2").when.first, 3U);
  EXPECT_EQ(fault("cuMemCreate@3:2").when.last, 3U);
  EXPECT_EQ(fault("cuMemCreate@3-5:2").when.last, 5U);
  EXPECT_EQ(fault("cuMemCreate@3-:2").when.last, std::numeric_limits<std::uint64_t>::max());
  EXPECT_FALSE(fault("cuMemCreate@3:2").sticky);
}

TEST(FaultRule, EveryChanceAndBudget) {
  EXPECT_EQ(fault("cuMemMap@every4:1").when.kind, Trigger::Kind::every);
  EXPECT_EQ(fault("cuMemMap@every4:1").when.every, 4U);
  EXPECT_EQ(fault("cuMemMap@p0.25:1").when.kind, Trigger::Kind::chance);
  EXPECT_EQ(fault("cuMemMap@p0.25:1").when.millionths, 250'000U);
  EXPECT_EQ(fault("cuMemMap@p0.25:1").when.seed, std::nullopt);
  EXPECT_EQ(fault("cuMemMap@p1/7:1").when.seed, 7U);
  EXPECT_EQ(fault("cuMemCreate@after64MiB:2").when.kind, Trigger::Kind::budget);
  EXPECT_EQ(fault("cuMemCreate@after64MiB:2").when.budget, std::uint64_t{64} << 20);
}

TEST(FaultRule, StickyComesLast) {
  const FaultRule rule = fault("cuMemcpyAsync@1:CUDA_ERROR_ILLEGAL_ADDRESS,sticky");
  EXPECT_TRUE(rule.sticky);
  EXPECT_EQ(rule.result, 700);
}

TEST(FaultRule, ProblemsSayWhatWouldDo) {
  EXPECT_THAT(problem("cuMemCreate"), HasSubstr("FUNCTION@WHICH:RESULT"));
  EXPECT_THAT(problem("cuMemCreate:2@3"), HasSubstr("FUNCTION@WHICH:RESULT"));
  EXPECT_THAT(problem("cuNothing@1:2"), HasSubstr("'cuNothing'"));
  EXPECT_THAT(problem("cuMemCreate@0:2"), HasSubstr("from 1"));
  EXPECT_THAT(problem("cuMemCreate@5-3:2"), HasSubstr("from 1"));
  EXPECT_THAT(problem("cuMemCreate@every0:2"), HasSubstr("after every"));
  for (const char* const chance : {"0", "1.5", "-0.5", "often", "nan", "0.5x"})
    EXPECT_THAT(problem("cuMemCreate@p" + std::string(chance) + ":2"), HasSubstr("probability"));
  EXPECT_THAT(problem("cuMemCreate@p0.5/x:2"), HasSubstr("seed"));
  EXPECT_THAT(problem("cuMemCreate@aftermuch:2"), HasSubstr("after64MiB"));
  EXPECT_THAT(problem("cuMemMap@after1GiB:2"), HasSubstr("'cuMemMap'"));
  EXPECT_THAT(problem("cuMemCreate@1:0"), HasSubstr("failure"));
  EXPECT_THAT(problem("cuMemCreate@1:12345"), HasSubstr("CUresult"));
  EXPECT_THAT(problem("cuMemCreate@1:2,forever"), HasSubstr("sticky"));
}

TEST(FaultRule, StallsAreMilliseconds) {
  std::vector<FaultRule> rules;
  ASSERT_EQ(read_stall(rules, "cuMemFree@every2:50"), std::nullopt);
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0].stall, std::chrono::milliseconds(50));
  EXPECT_EQ(rules[0].result, 0) << "the call goes on";
  for (const char* const wrong : {"cuMemFree@1:0", "cuMemFree@1:600001", "cuMemFree@1:long"})
    EXPECT_THAT(read_stall(rules, wrong).value_or(""), HasSubstr("milliseconds")) << wrong;
  EXPECT_THAT(read_stall(rules, "cuMemFree").value_or(""), HasSubstr("WHICH:MILLISECONDS"));
}

TEST(FaultRule, LostDevices) {
  std::vector<LostDevice> lost;
  ASSERT_EQ(read_lost(lost, "1"), std::nullopt);
  ASSERT_EQ(read_lost(lost, "0@100:999"), std::nullopt);
  EXPECT_EQ(lost[0].device, 1);
  EXPECT_EQ(lost[0].nth, 1U);
  EXPECT_EQ(lost[0].result, 46) << "CUDA_ERROR_DEVICE_UNAVAILABLE";
  EXPECT_EQ(lost[1].nth, 100U);
  EXPECT_EQ(lost[1].result, 999);
  for (const char* const wrong : {"", "-1", "gpu", "0@0", "0@x", "0@1:0", "0:none"})
    EXPECT_NE(read_lost(lost, wrong), std::nullopt) << wrong;
  EXPECT_EQ(lost.size(), 2U);
}

TEST(FaultRule, BudgetsAreForFunctionsThatSayWhatTheyWant) {
  EXPECT_TRUE(asks_for_bytes("cuMemHostRegister"));
  EXPECT_FALSE(asks_for_bytes("cuMemFree"));
}

}  // namespace
}  // namespace ferry::sim
