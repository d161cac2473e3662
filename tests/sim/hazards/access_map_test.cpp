// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/access_map.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <tuple>

namespace ferry::sim {
namespace {

Toucher toucher(LaneNumber lane, std::uint64_t count, AccessKind kind, std::uint32_t member = 0) {
  Toucher who;
  who.lane = lane;
  who.count = count;
  who.kind = kind;
  who.member = member;
  return who;
}

Clock after(std::initializer_list<std::pair<LaneNumber, std::uint64_t>> known) {
  Clock clock;
  for (const auto& [lane, count] : known) clock.set(lane, count);
  return clock;
}

class AccessMapTest : public ::testing::Test {
 protected:
  std::vector<Collision> note(std::uint64_t start, std::uint64_t end, const Toucher& who,
                              const Clock& before = {}) {
    std::vector<Collision> found;
    map_.note(start, end, who, before, [&](const Collision& c) { found.push_back(c); });
    return found;
  }
  AccessMap map_;
};

TEST_F(AccessMapTest, ReadsDoNotCollide) {
  EXPECT_TRUE(note(0, 100, toucher(0, 1, AccessKind::read)).empty());
  EXPECT_TRUE(note(50, 150, toucher(1, 1, AccessKind::read)).empty());
}

TEST_F(AccessMapTest, AWriteCollidesWithAnUnorderedReadInTheCommonBytes) {
  note(0, 100, toucher(0, 1, AccessKind::read));
  const auto found = note(60, 200, toucher(1, 1, AccessKind::write));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].start, 60U);
  EXPECT_EQ(found[0].end, 100U);
  EXPECT_EQ(found[0].earlier.lane, 0U);
}

TEST_F(AccessMapTest, OrderedAccessesDoNotCollide) {
  note(0, 100, toucher(0, 1, AccessKind::write));
  EXPECT_TRUE(note(0, 100, toucher(1, 1, AccessKind::read), after({{0, 1}})).empty());
  EXPECT_TRUE(note(0, 100, toucher(2, 1, AccessKind::write), after({{0, 1}, {1, 1}})).empty());
}

TEST_F(AccessMapTest, AnEarlierOrderDoesNotCoverALaterOperation) {
  note(0, 100, toucher(0, 2, AccessKind::write));
  EXPECT_EQ(note(0, 100, toucher(1, 1, AccessKind::read), after({{0, 1}})).size(), 1U);
}

TEST_F(AccessMapTest, MembersOfOneBatchAreUnordered) {
  EXPECT_TRUE(note(0, 100, toucher(0, 1, AccessKind::write, 0), after({{0, 1}})).empty());
  EXPECT_TRUE(note(100, 200, toucher(0, 1, AccessKind::write, 1), after({{0, 1}})).empty());
  const auto found = note(90, 100, toucher(0, 1, AccessKind::write, 2), after({{0, 1}}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].earlier.member, 0U);
}

TEST_F(AccessMapTest, OneOperationMayReadWhatItWrites) {
  note(0, 100, toucher(0, 1, AccessKind::read), after({{0, 1}}));
  EXPECT_TRUE(note(50, 150, toucher(0, 1, AccessKind::write), after({{0, 1}})).empty());
}

TEST_F(AccessMapTest, AForgottenRangeCollidesWithNothing) {
  note(0, 300, toucher(0, 1, AccessKind::write));
  map_.forget(100, 200);
  EXPECT_TRUE(note(100, 200, toucher(1, 1, AccessKind::write)).empty());
  EXPECT_EQ(note(0, 300, toucher(2, 1, AccessKind::read)).size(), 3U);
}

TEST_F(AccessMapTest, KnowsWhatIsBeingWritten) {
  note(100, 200, toucher(0, 1, AccessKind::write));
  note(300, 400, toucher(0, 2, AccessKind::read));
  EXPECT_TRUE(map_.is_written(150, 160, {}));
  EXPECT_TRUE(map_.is_written(0, 101, {}));
  EXPECT_FALSE(map_.is_written(0, 100, {}));
  EXPECT_FALSE(map_.is_written(300, 400, {}));
  EXPECT_FALSE(map_.is_written(150, 160, after({{0, 1}})));
}

TEST_F(AccessMapTest, AnEndBeforeTheUsersEndedIsReported) {
  note(0, 100, toucher(0, 1, AccessKind::write));
  note(100, 200, toucher(1, 4, AccessKind::read));
  std::set<LaneNumber> lanes;
  const auto collect = [&](const Collision& c) { lanes.insert(c.earlier.lane); };
  map_.check_ended(0, 200, after({{0, 1}, {1, 3}}), collect);
  EXPECT_EQ(lanes, (std::set<LaneNumber>{1}));
  map_.check_ended(0, 200, after({{0, 1}, {1, 4}}), collect);
  EXPECT_EQ(lanes.size(), 1U);
}

TEST_F(AccessMapTest, PruningDropsWhatEveryLaterAccessComesAfter) {
  note(0, 100, toucher(0, 1, AccessKind::write));
  note(100, 200, toucher(1, 1, AccessKind::read));
  note(200, 300, toucher(0, 2, AccessKind::write));
  map_.prune(after({{0, 1}, {1, 1}}));
  EXPECT_EQ(map_.size(), 1U);
  EXPECT_EQ(note(200, 300, toucher(1, 2, AccessKind::read), after({{0, 1}, {1, 1}})).size(), 1U);
}

// Against a model that keeps every access to every byte: whenever the model has a collision with
// anything, the map reports one too, and it never reports one that the model has not. Order is
// closed as the engine closes it: an operation that knows another knows what that one knew.
TEST(AccessMapModel, AgreesWithAListOfAllAccesses) {
  constexpr std::uint64_t kBytes = 48;
  constexpr LaneNumber kLanes = 4;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random(seed);
    AccessMap map;
    std::array<std::vector<Toucher>, kBytes> all;
    std::array<std::vector<Clock>, kLanes> clocks;  // of each operation, its own count included
    std::array<Clock, kLanes> last;
    Clock seen;
    std::uint64_t collisions = 0;
    for (int step = 0; step < 250; ++step) {
      const auto lane = static_cast<LaneNumber>(random() % kLanes);
      Clock clock = last[lane];
      clock.join(seen);
      if (random() % 2 == 0) clock.join(last[random() % kLanes]);
      const std::uint64_t count = clocks[lane].size() + 1;
      clock.set(lane, count);
      clocks[lane].push_back(clock);
      last[lane] = clock;
      const std::uint64_t start = random() % kBytes;
      const std::uint64_t end = start + 1 + random() % (kBytes - start);
      const Toucher who =
          toucher(lane, count, random() % 3 == 0 ? AccessKind::write : AccessKind::read);
      bool expected = false;
      for (std::uint64_t byte = start; byte < end; ++byte) {
        for (const Toucher& earlier : all[byte]) {
          const bool both_read = earlier.kind == AccessKind::read && who.kind == AccessKind::read;
          expected |= !both_read && clock.of(earlier.lane) < earlier.count;
        }
        all[byte].push_back(who);
      }
      bool reported = false;
      map.note(start, end, who, clock, [&](const Collision& collision) {
        reported = true;
        EXPECT_LT(clock.of(collision.earlier.lane), collision.earlier.count);
        EXPECT_LE(start, collision.start);
        EXPECT_LE(collision.end, end);
      });
      if (expected) ++collisions;
      if (reported) {
        ASSERT_TRUE(expected) << "seed " << seed << ", step " << step;
        // What a reported write hid is no longer compared: start again from an empty history.
        map.forget(0, kBytes);
        for (auto& history : all) history.clear();
      } else {
        ASSERT_FALSE(expected) << "seed " << seed << ", step " << step;
      }
      if (random() % 16 == 0) {
        seen.join(last[random() % kLanes]);
        map.prune(seen);
      }
    }
    EXPECT_GT(collisions, 10U) << "the traffic must collide, or it shows nothing";
  }
}

}  // namespace
}  // namespace ferry::sim
