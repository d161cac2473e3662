// SPDX-License-Identifier: Apache-2.0
#include "front/report/traffic_report.hpp"

#include <gmock/gmock.h>

#include "front/report/traffic_report_samples.hpp"

namespace ferry::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using traffic::testing_traffic::RecordText;

TEST(TrafficTable, ShowsPhasesCallersAndWaitsOfTheStep) {
  const std::string table = traffic_table(testing_report::traffic_report());
  EXPECT_THAT(table, HasSubstr("python train.py\non h200-pcie5"));
  EXPECT_THAT(table, HasSubstr("Process 12: 4,096 parameters; step 1 of 1, of 2 micro-steps\n"));
  EXPECT_THAT(table, HasSubstr("backward         to device              8 KiB    2.000        1"));
  EXPECT_THAT(table, HasSubstr("                 to host               24 KiB    6.000        2"));
  EXPECT_THAT(table, HasSubstr("forward          to device              100 B    0.024        1"
                               "        1        100 B        1\n"));
  EXPECT_THAT(table, HasSubstr("16 KiB    4.000        1  backward, to host: aten::copy_ "
                               "(engine.py:4)\n"));
  EXPECT_THAT(table, HasSubstr("2  backward, cuStreamSynchronize: engine.py:6\n"));
}

TEST(TrafficTable, SaysWhatHadAGapOrWasNotKnown) {
  TrafficReport report = testing_report::traffic_report();
  report.processes[0].records.complete = false;
  report.processes[0].parameters = 0;
  const std::string table = traffic_table(report);
  EXPECT_THAT(table, HasSubstr("the number of parameters is not known"));
  EXPECT_THAT(table, HasSubstr("it did not come to its end"));
  EXPECT_THAT(table, HasSubstr("backward         to device              8 KiB        -"));
  report.processes.clear();
  EXPECT_THAT(traffic_table(report), HasSubstr("No process copied anything.\n"));
}

TEST(TrafficFindingSentences, NameTheThreeRedundancies) {
  const TrafficReport report = testing_report::traffic_report();
  const auto sentences = finding_sentences(report.processes[0], true);
  EXPECT_THAT(
      sentences,
      ElementsAre(
          "Gradients cross the link in each of 2 micro-steps: 32 KiB (8.000 B a parameter) in all. "
          "Summed on the GPU and sent once they are 8 KiB (2.000 B a parameter).",
          "The same bytes crossed the link 3 times (1 contents): 32 KiB (8.000 B a parameter) "
          "where "
          "8 KiB (2.000 B a parameter) do. They went backward to host by aten::copy_ "
          "(engine.py:2), "
          "then backward to device by aten::copy_ (engine.py:3), then backward to host as 32-bit "
          "words by aten::copy_ (engine.py:4).",
          "16-bit floats were sent as 32-bit words, the lower half of each empty: 16 KiB (4.000 B "
          "a "
          "parameter), half of it for nothing (backward, to host, 1 copy by aten::copy_ "
          "(engine.py:4)). Send 16 bits and widen them on the other side."));
}

TEST(TrafficFindingSentences, SayWhyThereAreNone) {
  RecordText record;
  record.copy("to_device", 8192, "a.py:1", "aa");
  const auto process = process_traffic(1, record.read(), traffic::PhasesBy::phase, 0);
  EXPECT_THAT(finding_sentences(process, true), ElementsAre(HasSubstr("No bytes crossed")));
  EXPECT_THAT(finding_sentences(process, false), ElementsAre(HasSubstr("--values cpu")));
  const auto unknown =
      process_traffic(1, RecordText().copy("to_device", 8192, "a.py:1").read(), {}, 0);
  EXPECT_THAT(finding_sentences(unknown, true), IsEmpty());
}

TEST(ProcessTraffic, APersonKnowsTheParametersBetter) {
  const auto record = traffic::testing_traffic::two_micro_steps();
  EXPECT_EQ(process_traffic(1, record.read(), {}, 0).parameters, 4096U);
  EXPECT_EQ(process_traffic(1, record.read(), {}, 7).parameters, 7U);
}

TEST(TrafficTable, NothingFromOutsideSteersATerminal) {
  TrafficReport report = testing_report::traffic_report();
  report.program = {"\x1b[31m"};
  EXPECT_THAT(traffic_table(report), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace ferry::replay
