// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/host_nodes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace ferry::sim {
namespace {

TEST(HostNodes, WhatHasNoPlaceIsNear) {
  HostNodes nodes;
  EXPECT_EQ(nodes.bytes_away(0, 1000, 100), 0U);
  EXPECT_EQ(nodes.bytes_away(1, 1000, 100), 0U);
}

TEST(HostNodes, TheLatestWordCounts) {
  HostNodes nodes;
  nodes.place(1000, 300, 1);
  nodes.place(1100, 100, 0);
  EXPECT_EQ(nodes.bytes_away(0, 0, 5000), 200U);
  EXPECT_EQ(nodes.bytes_away(1, 0, 5000), 100U);
  EXPECT_EQ(nodes.bytes_away(0, 1050, 100), 50U) << "part of it";
  nodes.forget(1250, 10);
  EXPECT_EQ(nodes.bytes_away(0, 0, 5000), 190U);
}

TEST(HostNodes, SettlingLeavesWhatHasAPlace) {
  HostNodes nodes;
  nodes.place(1100, 100, 1);
  nodes.settle(1000, 300, 0);
  EXPECT_EQ(nodes.bytes_away(0, 0, 5000), 100U);
  EXPECT_EQ(nodes.bytes_away(1, 0, 5000), 200U);
}

// Against a node for each byte.
TEST(HostNodesModel, AgreesWithOneNodeForEachByte) {
  constexpr std::uint32_t kBytes = 64;
  std::minstd_rand random(7);
  for (int round = 0; round < 200; ++round) {
    HostNodes nodes;
    std::array<int, kBytes> model{};
    model.fill(-1);
    for (int step = 0; step < 20; ++step) {
      const std::uint64_t start = random() % kBytes;
      const std::uint64_t bytes = random() % (kBytes - start + 1);
      const int node = static_cast<int>(random() % 3);
      const std::uint64_t action = random() % 3;
      if (action == 0) nodes.place(start, bytes, node);
      if (action == 1) nodes.settle(start, bytes, node);
      if (action == 2) nodes.forget(start, bytes);
      for (std::uint64_t at = start; at < start + bytes; ++at) {
        if (action == 0 || (action == 1 && model[at] < 0)) model[at] = node;
        if (action == 2) model[at] = -1;
      }
      for (int asked = 0; asked < 3; ++asked) {
        std::uint64_t away = 0;
        for (std::size_t at = 5; at < 50; ++at)
          away += model[at] >= 0 && model[at] != asked ? 1 : 0;
        ASSERT_EQ(nodes.bytes_away(asked, 5, 45), away) << round << " " << step;
      }
    }
  }
}

}  // namespace
}  // namespace ferry::sim
