// SPDX-License-Identifier: Apache-2.0
#include "sim/words/engine_window.hpp"

#include <gmock/gmock.h>

namespace ferry::sim {
namespace {

using testing::HasSubstr;

TEST(EngineWindow, SlowHasAFactor) {
  std::vector<EngineWindow> windows;
  ASSERT_EQ(read_slow(windows, "1/to_host:4@10us-2ms"), std::nullopt);
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_EQ(windows[0].device, 1);
  EXPECT_EQ(windows[0].engine, EngineKind::to_host);
  EXPECT_EQ(windows[0].slowdown, 4U);
  EXPECT_EQ(windows[0].from, 10'000'000);
  EXPECT_EQ(windows[0].until, 2'000'000'000);
}

TEST(EngineWindow, StuckHasNone) {
  std::vector<EngineWindow> windows;
  for (const char* const engine : {"to_device@0us-1us", "peer@0us-1us", "compute@0us-1us"})
    ASSERT_EQ(read_stuck(windows, engine), std::nullopt) << engine;
  ASSERT_EQ(windows.size(), 3U);
  EXPECT_EQ(windows[0].device, std::nullopt) << "every device";
  EXPECT_EQ(windows[0].slowdown, 0U);
  EXPECT_EQ(windows[0].engine, EngineKind::to_device);
  EXPECT_EQ(windows[1].engine, EngineKind::peer);
  EXPECT_EQ(windows[2].engine, EngineKind::compute);
}

TEST(EngineWindow, ProblemsSayWhatWouldDo) {
  std::vector<EngineWindow> windows;
  const auto slow = [&](const char* text) { return read_slow(windows, text).value_or(""); };
  EXPECT_THAT(slow("to_host@1us-2us"), HasSubstr("ENGINE:FACTOR@FROM-UNTIL"));
  EXPECT_THAT(slow("to_moon:2@1us-2us"), HasSubstr("to_device, to_host, peer or compute"));
  EXPECT_THAT(slow("x/to_host:2@1us-2us"), HasSubstr("before the /"));
  EXPECT_THAT(slow("to_host:1@1us-2us"), HasSubstr("from 2 to"));
  EXPECT_THAT(slow("to_host:2@2us-2us"), HasSubstr("10us-2ms"));
  EXPECT_THAT(slow("to_host:2@2us"), HasSubstr("10us-2ms"));
  EXPECT_THAT(read_stuck(windows, "to_host").value_or(""), HasSubstr("ENGINE@FROM-UNTIL"));
  EXPECT_TRUE(windows.empty());
}

}  // namespace
}  // namespace ferry::sim
