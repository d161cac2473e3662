// SPDX-License-Identifier: Apache-2.0
#include "front/replay/last_users.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace ferry::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

StreamRef stream(std::uintptr_t number) {
  return StreamRef(reinterpret_cast<void*>(number));
}

TEST(LastUsers, KnowsNobodyAtFirst) {
  const LastUsers users;
  EXPECT_THAT(users.others_in(DeviceAddress{0}, 100_GiB, stream(1)), IsEmpty());
}

TEST(LastUsers, TellsOthersFromOneself) {
  LastUsers users;
  users.record(DeviceAddress{1000}, 100_B, stream(1));
  EXPECT_THAT(users.others_in(DeviceAddress{1000}, 100_B, stream(1)), IsEmpty());
  EXPECT_THAT(users.others_in(DeviceAddress{1000}, 100_B, stream(2)), ElementsAre(stream(1)));
}

TEST(LastUsers, RangesThatOnlyTouchAreApart) {
  LastUsers users;
  users.record(DeviceAddress{1000}, 100_B, stream(1));
  EXPECT_THAT(users.others_in(DeviceAddress{900}, 100_B, stream(2)), IsEmpty());
  EXPECT_THAT(users.others_in(DeviceAddress{1100}, 100_B, stream(2)), IsEmpty());
  EXPECT_THAT(users.others_in(DeviceAddress{901}, 100_B, stream(2)), ElementsAre(stream(1)));
  EXPECT_THAT(users.others_in(DeviceAddress{1099}, 1_B, stream(2)), ElementsAre(stream(1)));
}

TEST(LastUsers, ALaterUseInTheMiddleLeavesTheEnds) {
  LastUsers users;
  users.record(DeviceAddress{1000}, 300_B, stream(1));
  users.record(DeviceAddress{1100}, 100_B, stream(2));
  EXPECT_THAT(users.others_in(DeviceAddress{1000}, 100_B, stream(3)), ElementsAre(stream(1)));
  EXPECT_THAT(users.others_in(DeviceAddress{1100}, 100_B, stream(3)), ElementsAre(stream(2)));
  EXPECT_THAT(users.others_in(DeviceAddress{1200}, 100_B, stream(3)), ElementsAre(stream(1)));
  EXPECT_THAT(users.others_in(DeviceAddress{1000}, 300_B, stream(3)),
              UnorderedElementsAre(stream(1), stream(2)));
}

TEST(LastUsers, AgreesWithATableOfAddresses) {
  std::mt19937 random(7);
  LastUsers users;
  std::array<std::uintptr_t, 64> table{};  // 0: nobody
  for (int round = 0; round < 5000; ++round) {
    const std::uint64_t begin = random() % table.size();
    const std::uint64_t size = 1 + random() % (table.size() - begin);
    const std::uintptr_t who = 1 + random() % 4;
    std::vector<StreamRef> expected;
    for (std::uint64_t at = begin; at < begin + size; ++at) {
      if (table[at] == 0 || table[at] == who) continue;
      if (std::ranges::count(expected, stream(table[at])) == 0)
        expected.push_back(stream(table[at]));
    }
    ASSERT_THAT(users.others_in(DeviceAddress{begin}, Bytes{size}, stream(who)),
                ::testing::UnorderedElementsAreArray(expected));
    if (random() % 3 == 0) {
      users.record(DeviceAddress{begin}, Bytes{size}, stream(who));
      std::fill_n(table.begin() + static_cast<std::ptrdiff_t>(begin), size, who);
    }
  }
}

}  // namespace
}  // namespace ferry::replay
