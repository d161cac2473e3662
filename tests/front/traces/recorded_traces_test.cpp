// SPDX-License-Identifier: Apache-2.0
// The readers on public recordings of real programs, where they lie in the folder that
// FERRY_TRACE_DIR names. Without the folder ctest shows this program as skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "front/traces/recorded_check.hpp"

namespace ferry::replay {
namespace {

using testing::check_recording;
using testing::Expected;

std::string trace_folder() {
  const char* named = std::getenv("FERRY_TRACE_DIR");
  return named != nullptr ? named : FERRY_DEFAULT_TRACE_DIR;
}

// First of all: ctest looks for this sentence.
TEST(FolderOfRecordedTraces, IsThere) {
  if (!std::filesystem::is_directory(trace_folder())) {
    GTEST_SKIP() << "the recorded traces are not checked: there is no folder " << trace_folder()
                 << "; FERRY_TRACE_DIR names another";
  }
}

class RecordedTraces : public ::testing::TestWithParam<Expected> {};

TEST_P(RecordedTraces, GiveTheFiguresOfTheirRecording) {
  const std::string path = trace_folder() + "/" + GetParam().file;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "not checked: there is no " << path;
  check_recording(path, GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Snapshots, RecordedTraces,
    ::testing::Values(Expected{"snapshots/gpt_inductor_train.pickle", 0, 447, 3'064'418'304, 2162,
                               2162, 3'849'232'640, 4'238'344'192, 50'645},
                      Expected{"snapshots/gpt_large_steady_step.pickle", 0, 1313, 15'568'596'996,
                               6488, 6488, 22'827'925'508, 23'842'521'088, 235'503},
                      Expected{"snapshots/gpt_medium_ctx512_train.pickle", 0, 664, 5'095'567'360,
                               7591, 7370, 12'426'629'128, 12'660'506'624, 280'394},
                      Expected{"snapshots/heap_flexgen_fork_oom.pickle", 0, 460, 11'840'159'744, 0,
                               0, 11'840'159'744, 11'844'714'496, 0},
                      Expected{"snapshots/nca3d_train_frag31.pickle", 0, 37, 59'056'640, 1491, 1129,
                               14'401'221'632, 20'860'370'944, 2'038'854},
                      Expected{"snapshots/nca_growing_frag38.pickle", 0, 75, 186'240, 294, 293,
                               5'692'437'840, 9'196'011'520, 36'191'979},
                      Expected{"snapshots/opt125m_fedzo.pickle", 0, 0, 0, 7946, 7549, 1'783'664'516,
                               1'897'922'560, 1'850'438}));

INSTANTIATE_TEST_SUITE_P(
    Kineto, RecordedTraces,
    ::testing::Values(Expected{"kineto/h100_tiny_transformer.json.gz", 0, 1, 50'358'272, 60, 60,
                               94'398'464, 117'440'512, 2'674},
                      Expected{"kineto/hta_ddp_v100_mem_rank1.json.gz", 1, 1, 4'096'614'400, 13'385,
                               13'385, 6'629'508'096, 12'782'141'440, 1'718'465},
                      Expected{"kineto/mi300_ddp_resnet18_nopool.json.gz", -1, 0, 0, 105, 105, 8,
                               std::nullopt, 2'566'294}));

TEST(RecordedTracesWithoutMemoryEvents, AreRefused) {
  for (const char* file :
       {"kineto/hta_a100_rec_copies_rank0.json.gz", "kineto/resnet_2080ti_pageable.json.gz"}) {
    const std::string path = trace_folder() + "/" + file;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "not checked: there is no " << path;
    EXPECT_THAT(read_trace(path).error().describe(), ::testing::HasSubstr("no '[memory]' events"));
  }
}

}  // namespace
}  // namespace ferry::replay
