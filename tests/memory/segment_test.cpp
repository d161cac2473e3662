// SPDX-License-Identifier: Apache-2.0
#include "memory/segment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

namespace ferry {
namespace {

constexpr std::uint64_t kUnit = kBlockAlignment;
constexpr std::uint64_t kPage = 8 * kUnit;

TEST(Segment, StartsEmptyAndGivesNothing) {
  const Segment segment(16 * kPage, kPage);
  EXPECT_EQ(segment.find_idle(kUnit), kNoBlock);
  EXPECT_EQ(segment.block_count(), 1U);
  EXPECT_EQ(segment.audit(), "");
}

TEST(Segment, WindowCountsWholePages) {
  const Segment segment(16 * kPage, kPage);
  const std::optional<Window> window = segment.find_window(kPage + kUnit);
  ASSERT_TRUE(window);
  EXPECT_EQ(window->offset, 0U);
  EXPECT_EQ(window->missing, 2 * kPage);
  EXPECT_EQ(window->gaps, 1U);
}

TEST(Segment, WindowExtendsIdleMemoryInsteadOfStartingAnew) {
  Segment segment(16 * kPage, kPage);
  segment.commit(4 * kPage, 2 * kPage);
  const std::optional<Window> window = segment.find_window(3 * kPage);
  ASSERT_TRUE(window);
  EXPECT_EQ(window->missing, kPage);
}

TEST(Segment, NoWindowWhenLiveBlocksLeaveNoRoom) {
  Segment segment(4 * kPage, kPage);
  segment.commit(0, 4 * kPage);
  segment.take(segment.find_idle(kPage), 2 * kPage, kPage);
  EXPECT_FALSE(segment.find_window(3 * kPage));
  EXPECT_TRUE(segment.find_window(2 * kPage));
}

TEST(Segment, BestFitPrefersTheTightestBlock) {
  Segment segment(16 * kPage, kPage);
  segment.commit(0, 4 * kPage);
  segment.commit(8 * kPage, 2 * kPage);
  EXPECT_EQ(segment.block(segment.find_idle(kPage)).offset, 8 * kPage);
  EXPECT_EQ(segment.block(segment.find_idle(3 * kPage)).offset, 0U);
}

TEST(Segment, FindIdleHonoursStamps) {
  Segment segment(16 * kPage, kPage);
  segment.commit(0, kPage);
  const BlockId block = segment.take(segment.find_idle(kPage), 0, kPage);
  segment.put_back(block, 7);
  EXPECT_EQ(segment.find_idle(kPage, 6), kNoBlock);
  EXPECT_NE(segment.find_idle(kPage, 7), kNoBlock);
}

TEST(Segment, JoinedBlocksCarryTheLaterStamp) {
  Segment segment(16 * kPage, kPage);
  segment.commit(0, 2 * kPage);
  const BlockId left = segment.take(segment.find_idle(kPage), 0, kPage);
  const BlockId right = segment.take(segment.find_idle(kPage), kPage, kPage);
  segment.put_back(left, 9);
  EXPECT_EQ(segment.block(segment.put_back(right, 3)).stamp, 9U);
}

TEST(Segment, FencedBlocksAreNotHandedOut) {
  Segment segment(4 * kPage, kPage);
  segment.commit(0, kPage);
  const BlockId block = segment.take(segment.find_idle(kPage), 0, kPage);
  segment.fence(block);
  EXPECT_EQ(segment.find_idle(kUnit), kNoBlock);
  EXPECT_EQ(segment.audit(), "");
  segment.put_back(block, 1);
  EXPECT_NE(segment.find_idle(kPage), kNoBlock);
}

// A second, obvious implementation: one state for each unit of 512 bytes.
class NaiveSegment {
 public:
  explicit NaiveSegment(std::size_t units) : units_(units, BlockState::empty) {}

  void set(std::uint64_t offset, std::uint64_t size, BlockState state) {
    std::fill_n(units_.begin() + static_cast<std::ptrdiff_t>(offset / kUnit), size / kUnit, state);
  }
  [[nodiscard]] bool all(std::uint64_t offset, std::uint64_t size, BlockState state) const {
    const auto from = units_.begin() + static_cast<std::ptrdiff_t>(offset / kUnit);
    return std::all_of(from, from + static_cast<std::ptrdiff_t>(size / kUnit),
                       [&](BlockState s) { return s == state; });
  }
  // The length of the tightest run of idle units that holds `size`.
  [[nodiscard]] std::optional<std::uint64_t> best_fit(std::uint64_t size) const {
    std::optional<std::uint64_t> best;
    for (std::size_t i = 0, run = 0; i <= units_.size(); ++i) {
      if (i < units_.size() && units_[i] == BlockState::idle) {
        ++run;
        continue;
      }
      if (run * kUnit >= size && (!best || run * kUnit < *best)) best = run * kUnit;
      run = 0;
    }
    return best;
  }
  // The fewest bytes of pages to commit for `size` bytes anywhere.
  [[nodiscard]] std::optional<std::uint64_t> least_missing(std::uint64_t size) const {
    std::optional<std::uint64_t> best;
    for (std::size_t from = 0; from + size / kUnit <= units_.size(); ++from) {
      std::uint64_t missing = 0;
      bool possible = true;
      std::size_t counted_page = ~std::size_t{0};
      for (std::size_t i = from; i < from + size / kUnit; ++i) {
        possible = possible && units_[i] <= BlockState::idle;
        const std::size_t page = i * kUnit / kPage;
        if (units_[i] != BlockState::empty || page == counted_page) continue;
        counted_page = page;
        missing += kPage;
      }
      if (possible && (!best || missing < *best)) best = missing;
    }
    return best;
  }

 private:
  std::vector<BlockState> units_;
};

struct Held {
  BlockId id;
  std::uint64_t offset;
  std::uint64_t size;
};

class ModelTest : public testing::TestWithParam<unsigned> {
 protected:
  static constexpr std::uint64_t kPages = 24;

  void allocate(std::uint64_t size) {
    const BlockId idle = segment_.find_idle(size);
    const std::optional<std::uint64_t> expected = model_.best_fit(size);
    ASSERT_EQ(idle != kNoBlock, expected.has_value());
    if (idle == kNoBlock) {
      grow_for(size);
      return;
    }
    ASSERT_EQ(segment_.block(idle).size, *expected);
    hold(idle, segment_.block(idle).offset, size);
  }

  void grow_for(std::uint64_t size) {
    const std::optional<Window> window = segment_.find_window(size);
    const std::optional<std::uint64_t> expected = model_.least_missing(size);
    ASSERT_EQ(window.has_value(), expected.has_value());
    if (!window) return;
    ASSERT_EQ(window->missing, *expected);
    for (std::uint64_t page = window->offset / kPage; page * kPage < window->offset + size;
         ++page) {
      if (!model_.all(page * kPage, kPage, BlockState::empty)) continue;
      segment_.commit(page * kPage, kPage);
      model_.set(page * kPage, kPage, BlockState::idle);
    }
    hold(segment_.block_at(window->offset), window->offset, size);
  }

  void hold(BlockId idle, std::uint64_t offset, std::uint64_t size) {
    ASSERT_TRUE(model_.all(offset, size, BlockState::idle));
    held_.push_back(Held{segment_.take(idle, offset, size), offset, size});
    model_.set(offset, size, BlockState::live);
  }

  void release(std::size_t index, bool fence_first) {
    const Held held = held_[index];
    ASSERT_EQ(segment_.block(held.id).offset, held.offset);
    ASSERT_EQ(segment_.block(held.id).size, held.size);
    if (fence_first) segment_.fence(held.id);
    segment_.put_back(held.id, ++stamp_);
    model_.set(held.offset, held.size, BlockState::idle);
    held_[index] = held_.back();
    held_.pop_back();
  }

  void decommit_an_idle_page(std::uint64_t page) {
    if (!model_.all(page * kPage, kPage, BlockState::idle)) return;
    segment_.decommit(page * kPage, kPage);
    model_.set(page * kPage, kPage, BlockState::empty);
  }

  Segment segment_{kPages * kPage, kPage};
  NaiveSegment model_{kPages * kPage / kUnit};
  std::vector<Held> held_;
  std::uint64_t stamp_ = 0;
};

TEST_P(ModelTest, AgreesWithTheNaiveSegment) {
  constexpr int kSteps = 250'000;
  std::mt19937 random(GetParam());
  const auto below = [&](std::uint64_t n) {
    return std::uniform_int_distribution<std::uint64_t>(0, n - 1)(random);
  };
  for (int step = 0; step < kSteps; ++step) {
    const std::uint64_t dice = below(100);
    if (dice < 50) {
      const std::uint64_t largest = dice < 5 ? 80 : dice < 20 ? 24 : 6;
      allocate((1 + below(largest)) * kUnit);
    } else if (dice < 94) {
      if (!held_.empty()) release(below(held_.size()), dice < 60);
    } else {
      decommit_an_idle_page(below(kPages));
    }
    if (HasFatalFailure()) FAIL() << "at step " << step;
    if (step % 64 == 0) {
      ASSERT_EQ(segment_.audit(), "") << "at step " << step;
    }
  }
  EXPECT_EQ(segment_.audit(), "");
}

INSTANTIATE_TEST_SUITE_P(Seeds, ModelTest, testing::Values(1U, 2U, 3U, 4U));

}  // namespace
}  // namespace ferry
