// SPDX-License-Identifier: Apache-2.0
// The reader on the recording in examples/.
#include "front/traces/recorded_check.hpp"

namespace ferry::replay {
namespace {

TEST(ExampleTrace, IsTheRecordedRun) {
  testing::check_recording(FERRY_EXAMPLE_TRACE, {"gpt_cpu_train.json.gz", -1, 0, 0, 5960, 5960,
                                                 287'400'732, std::nullopt, 5'347'996});
}

}  // namespace
}  // namespace ferry::replay
