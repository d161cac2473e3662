// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/hazard_checker.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/memory/physical_memory.hpp"

namespace ferry::sim {
namespace {

class HazardCheckerTest : public testing::Test {
 protected:
  // 2 MiB of device memory at a fresh address.
  Mapping& map(std::shared_ptr<PhysicalBlock> block, Mapping::Kind kind) {
    Mapping mapping;
    mapping.start = *addresses.take(kFrameBytes, kFrameBytes);
    mapping.size = kFrameBytes;
    mapping.block = std::move(block);
    mapping.kind = kind;
    return pages.add(std::move(mapping));
  }
  Mapping& map(Mapping::Kind kind = Mapping::Kind::allocation) {
    return map(physical.create(0, kFrameBytes), kind);
  }
  // The next operation of a lane touches a range; it knows its own lane and what was seen.
  void touch(LaneNumber lane, AccessKind kind, std::uint64_t address, std::uint64_t bytes) {
    Toucher who;
    who.lane = lane;
    who.count = ++counts[lane];
    who.operation = ++operations;
    who.symbol = Symbol::cuMemcpyAsync;
    Clock before = seen;
    before.set(lane, who.count);
    const Touch range{address, bytes, kind};
    checker.note(who, std::span(&range, 1), before, seen);
  }
  std::uint64_t found() {
    testing::internal::GetCapturedStderr();
    testing::internal::CaptureStderr();
    return log.take();
  }
  void SetUp() override { testing::internal::CaptureStderr(); }
  void TearDown() override { testing::internal::GetCapturedStderr(); }

  AddressSpace addresses;
  PhysicalMemory physical{1, 1_GiB, false};
  PageTable pages;
  HazardLog log;
  HazardChecker checker{addresses, pages, log};
  std::map<LaneNumber, std::uint64_t> counts;
  std::uint64_t operations = 0;
  Clock seen;
};

TEST_F(HazardCheckerTest, WhatWasFreedMayNotBeTouched) {
  Mapping& mapping = map(Mapping::Kind::pool_allocation);
  touch(0, AccessKind::write, mapping.start, 10);
  EXPECT_EQ(found(), 0U);
  mapping.end_in_order(2);
  touch(0, AccessKind::write, mapping.start, 10);
  EXPECT_EQ(found(), 0U) << "the free itself, which was noted when it ran";
  touch(0, AccessKind::read, mapping.start, 10);
  EXPECT_EQ(found(), 1U) << "although ordered";
  mapping.end_in_order(0);
  operations = 0;
  touch(0, AccessKind::read, mapping.start, 10);
  EXPECT_EQ(found(), 1U) << "the host's free comes after nothing that was not noted by then";
}

TEST_F(HazardCheckerTest, AVariableIsReportedByItsNameAndItsPastGoesWithIt) {
  Mapping& mapping = map(Mapping::Kind::variable);
  mapping.name = std::make_shared<const std::string>("counter");
  touch(0, AccessKind::write, mapping.start, 10);
  checker.note_end({Symbol::cuModuleUnload}, mapping, seen);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("the variable counter of a module"));
  testing::internal::CaptureStderr();
  EXPECT_EQ(log.take(), 1U);
  touch(1, AccessKind::write, mapping.start, 10);
  EXPECT_EQ(found(), 0U) << "the bytes are another's by then";
}

TEST_F(HazardCheckerTest, TheEndOfAnImportLeavesTheBytesWithTheirPast) {
  const auto block = physical.create(0, kFrameBytes);
  const Mapping& own = map(block, Mapping::Kind::pool_allocation);
  const Mapping& imported = map(block, Mapping::Kind::imported);
  touch(0, AccessKind::write, own.start, 100);
  checker.note_end({Symbol::cuMemFree_v2}, imported, seen);
  EXPECT_EQ(found(), 0U);
  touch(1, AccessKind::read, own.start, 100);
  EXPECT_EQ(found(), 1U);
}

TEST_F(HazardCheckerTest, AForgottenMappingCollidesWithNothing) {
  const Mapping& mapping = map(Mapping::Kind::pool_allocation);
  touch(0, AccessKind::write, mapping.start, 10);
  checker.forget_mapping(mapping);
  touch(1, AccessKind::write, mapping.start, 10);
  EXPECT_EQ(found(), 0U);
}

TEST_F(HazardCheckerTest, AMappingWithoutUsersStillHasItsBytes) {
  const Mapping& mapping = map(Mapping::Kind::pool_allocation);
  touch(0, AccessKind::write, mapping.start, 10);
  checker.forget_users(mapping);
  touch(1, AccessKind::write, mapping.start, 10);
  EXPECT_EQ(found(), 1U);
}

TEST_F(HazardCheckerTest, AliasesOfOnePhysicalBlockCollide) {
  const auto block = physical.create(0, kFrameBytes);
  const Mapping& first = map(block, Mapping::Kind::virtual_memory);
  const Mapping& second = map(block, Mapping::Kind::virtual_memory);
  touch(0, AccessKind::write, first.start + 10, 10);
  touch(1, AccessKind::read, second.start + 20, 10);
  EXPECT_EQ(found(), 0U);
  touch(1, AccessKind::read, second.start + 19, 10);
  const std::string printed = testing::internal::GetCapturedStderr();
  testing::internal::CaptureStderr();
  EXPECT_EQ(log.take(), 1U);
  EXPECT_THAT(printed, testing::HasSubstr(fmt::format("[{:#x}, {:#x}), 1 bytes", second.start + 19,
                                                      second.start + 20)));
  EXPECT_THAT(printed, testing::HasSubstr(fmt::format("alias:   of [{:#x}, {:#x})",
                                                      first.start + 19, first.start + 20)));
}

TEST_F(HazardCheckerTest, TheSameAddressIsNoAlias) {
  const Mapping& mapping = map(Mapping::Kind::virtual_memory);
  touch(0, AccessKind::write, mapping.start + 10, 10);
  touch(1, AccessKind::read, mapping.start + 15, 10);
  const std::string printed = testing::internal::GetCapturedStderr();
  testing::internal::CaptureStderr();
  EXPECT_EQ(log.take(), 1U);
  EXPECT_THAT(printed, testing::Not(testing::HasSubstr("alias")));
}

TEST_F(HazardCheckerTest, ARangeRunsOnIntoTheNextMapping) {
  const std::uint64_t start = *addresses.take(2 * kFrameBytes, kFrameBytes);
  for (const std::uint64_t offset : {std::uint64_t{0}, kFrameBytes}) {
    Mapping mapping;
    mapping.start = start + offset;
    mapping.size = kFrameBytes;
    mapping.block = physical.create(0, kFrameBytes);
    pages.add(std::move(mapping));
  }
  touch(0, AccessKind::write, start + kFrameBytes - 8, 16);
  touch(1, AccessKind::write, start + kFrameBytes + 8, 8);
  EXPECT_EQ(found(), 0U);
  touch(1, AccessKind::write, start + kFrameBytes + 7, 1);
  EXPECT_EQ(found(), 1U);
}

TEST_F(HazardCheckerTest, HostMemoryCollidesByItsAddress) {
  std::vector<std::byte> bytes(64);
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  touch(0, AccessKind::write, address, 32);
  touch(1, AccessKind::read, address + 32, 32);
  EXPECT_EQ(found(), 0U);
  touch(1, AccessKind::read, address, 1);
  EXPECT_EQ(found(), 1U);
  EXPECT_TRUE(checker.is_being_written(address + 31, 1, seen));
  EXPECT_FALSE(checker.is_being_written(address + 32, 1, seen));
}

TEST_F(HazardCheckerTest, AMappingMayEndOnceItsUsersWereSeen) {
  const Mapping& mapping = map();
  touch(0, AccessKind::read, mapping.start, 100);
  touch(1, AccessKind::read, mapping.start, 100);
  seen.set(0, 1);
  checker.note_end({Symbol::cuMemFree_v2}, mapping, seen);
  EXPECT_EQ(found(), 1U) << "the one of lane 1";
  checker.note_end({Symbol::cuMemFree_v2}, mapping, seen);
  EXPECT_EQ(found(), 0U) << "told once";
}

TEST_F(HazardCheckerTest, NewMemoryAtAnOldPlaceHasNoPast) {
  Mapping& mapping = map();
  touch(0, AccessKind::write, mapping.start, 100);
  checker.note_end({Symbol::cuMemFree_v2}, mapping, seen);
  EXPECT_EQ(found(), 1U);
  touch(1, AccessKind::write, mapping.start, 100);
  EXPECT_EQ(found(), 0U);
}

TEST_F(HazardCheckerTest, AnUnmappedAliasLeavesTheBytesWithTheirPast) {
  const auto block = physical.create(0, kFrameBytes);
  const Mapping& first = map(block, Mapping::Kind::virtual_memory);
  const Mapping& second = map(block, Mapping::Kind::virtual_memory);
  touch(0, AccessKind::write, first.start, 100);
  checker.note_end({Symbol::cuMemUnmap}, first, seen);
  EXPECT_EQ(found(), 1U);
  touch(1, AccessKind::read, second.start, 100);
  EXPECT_EQ(found(), 1U);
}

TEST_F(HazardCheckerTest, AddressesWithoutMemoryAreLeftOut) {
  const std::uint64_t nowhere = *addresses.take(kFrameBytes, kFrameBytes);
  touch(0, AccessKind::write, nowhere, 100);
  touch(1, AccessKind::write, nowhere, 100);
  EXPECT_EQ(found(), 0U);
}

TEST_F(HazardCheckerTest, OffNotesNothing) {
  log.set_mode(HazardMode::off);
  const Mapping& mapping = map();
  touch(0, AccessKind::write, mapping.start, 100);
  touch(1, AccessKind::write, mapping.start, 100);
  EXPECT_EQ(found(), 0U);
}

}  // namespace
}  // namespace ferry::sim
