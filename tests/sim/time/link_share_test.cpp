// SPDX-License-Identifier: Apache-2.0
#include "sim/time/link_share.hpp"

#include <gmock/gmock.h>

#include "sim/time/round_profile.hpp"

namespace ferry::sim {
namespace {

using testing::ElementsAre;
using testing_time::kGigabytePerSecond;
using testing_time::kMicro;

class LinkShareTest : public testing::Test {
 protected:
  LinkShare::Crossing crossing(std::uint64_t id, Direction direction, std::uint64_t bytes,
                               int device = 0) const {
    LinkShare::Crossing made;
    made.id = id;
    made.device = device;
    made.direction = direction;
    made.limit = static_cast<std::uint64_t>(
        (direction == Direction::to_device ? profile.to_device : profile.to_host).value);
    made.left = work_of(bytes);
    return made;
  }

  Profile profile = testing_time::round_profile();
  LinkShare links{profile};
};

TEST_F(LinkShareTest, OneAloneHasTheRateOfItsDirection) {
  links.begin(7, crossing(1, Direction::to_device, 100'000));  // 10 bytes a nanosecond
  EXPECT_EQ(links.next_end(), 7 + 10 * kMicro);
  EXPECT_TRUE(links.take_ended(10 * kMicro).empty());
  EXPECT_THAT(links.take_ended(7 + 10 * kMicro), ElementsAre(1));
  EXPECT_TRUE(links.empty());
}

TEST_F(LinkShareTest, BothDirectionsSlowEachOtherWhileTheyOverlap) {
  // 100 kB up alone for 4 us: 40 kB. Then 60 kB at 5 GB/s: 12 us more.
  links.begin(0, crossing(1, Direction::to_device, 100'000));
  // 60 kB down at 6 GB/s: 10 us.
  links.begin(4 * kMicro, crossing(2, Direction::to_host, 60'000));
  EXPECT_EQ(links.next_end(), 14 * kMicro);
  EXPECT_THAT(links.take_ended(14 * kMicro), ElementsAre(2));
  // 50 kB went up in those 10 us; the last 10 kB go at 10 GB/s again.
  EXPECT_EQ(links.next_end(), 15 * kMicro);
  EXPECT_THAT(links.take_ended(15 * kMicro), ElementsAre(1));
}

TEST_F(LinkShareTest, TheSameDirectionIsSharedByWhatEachCouldTake) {
  LinkShare::Crossing slow = crossing(2, Direction::to_device, 1'000'000);
  slow.limit = 5 * kGigabytePerSecond;
  links.begin(0, crossing(1, Direction::to_device, 20'000));
  links.begin(0, slow);
  // 10 and 5 of 15 wanted, 10 there: 6.667 and 3.333 GB/s.
  EXPECT_EQ(links.next_end(), time_for(work_of(20'000), 6'666'666'666));
}

TEST_F(LinkShareTest, TheHostsMemoryBoundsAllDevicesTogether) {
  profile.host_memory.value = 10 * kGigabytePerSecond;
  links.begin(0, crossing(1, Direction::to_device, 50'000, 0));
  EXPECT_EQ(links.next_end(), 5 * kMicro);
  links.begin(0, crossing(2, Direction::to_device, 50'000, 1));
  EXPECT_EQ(links.next_end(), 10 * kMicro) << "5 GB/s each";
  EXPECT_THAT(links.take_ended(10 * kMicro), ElementsAre(1, 2));
}

TEST_F(LinkShareTest, DevicesDoNotShareTheirLinks) {
  links.begin(0, crossing(1, Direction::to_device, 50'000, 0));
  links.begin(0, crossing(2, Direction::to_host, 80'000, 1));
  EXPECT_EQ(links.next_end(), 5 * kMicro) << "the other direction is another device's";
}

TEST_F(LinkShareTest, ACrossingWhoseEngineIsSlowLeavesTheLinkToOthers) {
  links.begin(0, crossing(1, Direction::to_device, 100'000));
  links.begin(0, crossing(2, Direction::to_device, 100'000));  // 5 bytes a nanosecond each
  links.repace(2 * kMicro, [](std::uint64_t id) { return id == 1 ? 0U : 1U; });
  EXPECT_EQ(links.next_end(), 11 * kMicro) << "the other has all of it for its 90 kB";
  EXPECT_THAT(links.take_ended(11 * kMicro), ElementsAre(2));
  links.repace(20 * kMicro, [](std::uint64_t) { return 10U; });
  EXPECT_EQ(links.next_end(), 110 * kMicro) << "nothing moved meanwhile; 90 kB at 1 GB/s";
}

}  // namespace
}  // namespace ferry::sim
