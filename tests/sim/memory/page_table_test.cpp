// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/page_table.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ferry::sim {
namespace {

class PageTableTest : public testing::Test {
 protected:
  Mapping& add(std::uint64_t start, std::uint64_t size,
               Mapping::Kind kind = Mapping::Kind::virtual_memory) {
    Mapping mapping;
    mapping.start = start;
    mapping.size = size;
    mapping.kind = kind;
    mapping.rights.set(0, Access::read_write);
    return pages.add(std::move(mapping));
  }
  bool may(std::uint64_t start, std::uint64_t size, Access access = Access::read_write) {
    return pages.allows(0, access, start, size);
  }

  PageTable pages;
};

TEST(AccessRights, AreKeptPerDevice) {
  AccessRights rights;
  EXPECT_EQ(rights.of(3), Access::none);
  rights.set(3, Access::read);
  rights.set(4, Access::read_write);
  EXPECT_EQ(rights.of(3), Access::read);
  EXPECT_EQ(rights.of(4), Access::read_write);
  rights.set(4, Access::none);
  EXPECT_EQ(rights.of(4), Access::none);
  EXPECT_EQ(AccessRights::everyone().of(kMaxDevices - 1), Access::read_write);
}

TEST_F(PageTableTest, FindsByAnyAddress) {
  const std::uint64_t id = add(100, 50).buffer_id;
  EXPECT_EQ(pages.find(99), nullptr);
  ASSERT_NE(pages.find(100), nullptr);
  EXPECT_EQ(pages.find(149)->buffer_id, id);
  EXPECT_NE(pages.find_living(149), nullptr);
  pages.find(100)->end_in_order(1);
  EXPECT_EQ(pages.find_living(149), nullptr);
  EXPECT_NE(pages.find(149), nullptr);
  EXPECT_EQ(pages.find(150), nullptr);
  EXPECT_NE(add(200, 1).buffer_id, id);
}

TEST_F(PageTableTest, TellsWhetherAnythingLiesInARange) {
  add(100, 50);
  EXPECT_FALSE(pages.any_in(50, 50));
  EXPECT_TRUE(pages.any_in(50, 51));
  EXPECT_TRUE(pages.any_in(120, 1));
  EXPECT_TRUE(pages.any_in(149, 10));
  EXPECT_FALSE(pages.any_in(150, 1000));
}

TEST_F(PageTableTest, WholeMappingsOnly) {
  add(100, 50);
  add(150, 50);
  add(300, 50);
  EXPECT_FALSE(pages.whole_mappings(100, 50).empty());
  EXPECT_FALSE(pages.whole_mappings(100, 100).empty());
  EXPECT_TRUE(pages.whole_mappings(100, 60).empty());
  EXPECT_TRUE(pages.whole_mappings(110, 40).empty());
  EXPECT_TRUE(pages.whole_mappings(100, 101).empty());
  EXPECT_TRUE(pages.whole_mappings(150, 200).empty()) << "a gap";
  EXPECT_TRUE(pages.whole_mappings(300, 51).empty());
  EXPECT_TRUE(pages.whole_mappings(100, 0).empty());
}

TEST_F(PageTableTest, RightsAreNeededAllAlong) {
  add(100, 50);
  Mapping& second = add(150, 50);
  EXPECT_TRUE(may(100, 100));
  EXPECT_FALSE(may(100, 101));
  EXPECT_FALSE(may(90, 20));
  second.rights.set(0, Access::read);
  EXPECT_FALSE(may(100, 100));
  EXPECT_TRUE(may(100, 100, Access::read));
  EXPECT_TRUE(may(100, 50));
  EXPECT_FALSE(pages.allows(1, Access::read, 100, 10)) << "another device";
}

TEST_F(PageTableTest, AllocationsAreNotLeft) {
  add(100, 50, Mapping::Kind::allocation);
  add(150, 50, Mapping::Kind::allocation);
  EXPECT_TRUE(may(100, 50));
  EXPECT_FALSE(may(140, 20));
}

TEST_F(PageTableTest, VisitsPieceByPiece) {
  add(100, 50).offset = 1000;
  add(150, 50).offset = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pieces;
  pages.visit(120, 60, [&](Mapping&, std::uint64_t offset, std::uint64_t bytes) {
    pieces.emplace_back(offset, bytes);
  });
  EXPECT_EQ(pieces, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1020, 30}, {0, 30}}));
}

}  // namespace
}  // namespace ferry::sim
