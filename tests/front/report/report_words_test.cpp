// SPDX-License-Identifier: Apache-2.0
#include "front/report/report_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "front/replay/cost_table.hpp"
#include "front/report/report_samples.hpp"

namespace ferry::replay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ResultSentence, ComparesWithWhatPyTorchRecorded) {
  DeviceResult device = sample_device();
  EXPECT_EQ(result_sentence(device),
            "Ferry held at most 101\u00A0MiB for 100\u00A0MiB of live data (1.010×); PyTorch "
            "recorded 120\u00A0MiB (1.200×), 19\u00A0MiB more.");
  device.recorded_peak_reserved = 100_MiB;
  EXPECT_THAT(result_sentence(device), HasSubstr("(1.000×), 1\u00A0MiB less."));
  device.recorded_peak_reserved = 101_MiB;
  EXPECT_THAT(result_sentence(device), HasSubstr("(1.010×), the same."));
}

TEST(ResultSentence, SaysNothingOfPyTorchWhereNothingWasRecorded) {
  DeviceResult device = sample_device();
  device.recorded_peak_reserved.reset();
  EXPECT_EQ(result_sentence(device),
            "Ferry held at most 101\u00A0MiB for 100\u00A0MiB of live data (1.010×).");
}

TEST(ResultSentence, SaysWhyAReplayDidNotComplete) {
  DeviceResult device = sample_device();
  device.completed = false;
  EXPECT_THAT(result_sentence(device), HasSubstr("did not complete: a check failed."));
  device.out_of_memory = true;
  EXPECT_THAT(result_sentence(device), HasSubstr("did not complete: out of memory."));
  device.capacity = 90_MiB;
  EXPECT_EQ(result_sentence(device),
            "The replay did not complete: out of memory with a capacity of 90\u00A0MiB (0.900× of "
            "peak live). Up to there Ferry held at most 101\u00A0MiB; the trace needs 100\u00A0MiB "
            "of live data.");
}

TEST(ResultSentence, OfAnEmptyTrace) {
  DeviceResult device;
  device.completed = true;
  EXPECT_EQ(result_sentence(device), "The trace allocates nothing.");
}

TEST(DetailSentences, TellTheFirstAndTheLastPass) {
  DeviceResult device = sample_device();
  EXPECT_EQ(detail_sentences(device, "a100"),
            "The cold pass made 5 driver calls, 1.2 ms modelled with the cost table a100; the last "
            "of 2 passes made no driver call.");
  device.passes.resize(1);
  EXPECT_THAT(detail_sentences(device, "a100"), Not(HasSubstr("the last of")));
  device.passes[0] = PassResult{};
  EXPECT_EQ(detail_sentences(device, "a100"), "The cold pass made no driver call.");
}

TEST(DetailSentences, TellTheSmallestCapacityFirst) {
  DeviceResult device = sample_device();
  device.min_capacity = 102_MiB;
  EXPECT_THAT(detail_sentences(device, "a100"),
              StartsWith("The smallest capacity on which every pass completes is 102\u00A0MiB "
                         "(1.020×). With it the cold pass made 5 driver calls"));
}

TEST(DetailSentences, OfAReplayWithoutAPassAreEmpty) {
  EXPECT_EQ(detail_sentences(DeviceResult{}, "a100"), "");
}

TEST(SettingSentence, NamesDriverScheduleAndCosts) {
  ReplayReport report = sample_report();
  report.seed = 7;
  EXPECT_EQ(setting_sentence(report),
            "Driver: stand-in (modelled), schedule lazy. Cost table: a100.");
  report.schedule = "random";
  EXPECT_THAT(setting_sentence(report), HasSubstr("schedule random, seed 7."));
  report.driver = "CUDA 13.0";
  report.schedule.clear();
  EXPECT_EQ(setting_sentence(report), "Driver: CUDA 13.0. Cost table: a100.");
}

TEST(SettingSentence, WithoutADriverNamesNone) {
  ReplayReport report;
  report.costs = "a100";
  EXPECT_EQ(setting_sentence(report), "Cost table: a100.");
}

TEST(Explanation, NamesTheTableAndWhatItCountsAsFree) {
  const CostTable* table = find_cost_table("a100");
  ASSERT_NE(table, nullptr);
  ASSERT_FALSE(table->unpriced().empty());
  ReplayReport report = sample_report();
  const std::string text = explanation(report);
  EXPECT_THAT(text, HasSubstr("modelled with the table a100, not measured; it counts as free"));
  for (const std::string_view name : table->unpriced()) {
    EXPECT_THAT(text, HasSubstr(std::string(name)));
  }
  report.costs = "none such";
  EXPECT_THAT(explanation(report), HasSubstr("with the table none such, not measured."));
}

TEST(Explanation, SaysThatCallsCountWhichFailed) {
  EXPECT_THAT(explanation(sample_report()),
              HasSubstr("Calls that the driver refused are counted and priced like others."));
}

TEST(Explanation, SaysWhatASmallestCapacityIsWhereOneWasSearched) {
  ReplayReport report = sample_report();
  EXPECT_THAT(explanation(report), Not(HasSubstr("smallest capacity")));
  report.files[0].devices[0].min_capacity = 102_MiB;
  EXPECT_THAT(explanation(report), HasSubstr("more than what Ferry held without a limit"));
}

}  // namespace
}  // namespace ferry::replay
