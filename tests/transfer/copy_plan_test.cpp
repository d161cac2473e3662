// SPDX-License-Identifier: Apache-2.0
#include "transfer/copy_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace ferry {
namespace {

constexpr std::uint64_t kDevice = std::uint64_t{1} << 40;

// Addresses from kDevice on are the device's, one allocation but for what is cut off; below,
// registrations; the rest is pageable.
class Memory {
 public:
  void pin(std::uint64_t start, std::uint64_t bytes) { pinned_[start] = start + bytes; }
  void cut_allocation(std::uint64_t at) { cuts_.insert(at); }
  Result<MemoryRange> operator()(std::uint64_t address) const {
    if (address >= kDevice) {
      const std::uint64_t end = *cuts_.upper_bound(address);
      return MemoryRange{MemoryKind::device, end, end};
    }
    auto range = pinned_.upper_bound(address);
    if (range == pinned_.begin() || address >= (--range)->second) return MemoryRange{};
    return MemoryRange{MemoryKind::pinned, range->second, 0};
  }

 private:
  std::map<std::uint64_t, std::uint64_t> pinned_;
  std::set<std::uint64_t> cuts_{~std::uint64_t{0}};
};

CopyPlan plan(const std::vector<CopyRequest>& requests, const Memory& memory) {
  Result<CopyPlan, Failure> made = plan_copies(requests, memory);
  EXPECT_TRUE(made.ok()) << made.error().describe();
  return made.ok() ? std::move(made).value() : CopyPlan{};
}

Code refusal(const std::vector<CopyRequest>& requests, const Memory& memory) {
  const Result<CopyPlan, Failure> made = plan_copies(requests, memory);
  return made.ok() ? Code::ok : made.error().code();
}

TEST(CopyPlan, NeighboursBecomeOneCopyInWhateverOrderTheyCome) {
  Memory memory;
  memory.pin(0x10000, 0x10000);
  std::vector<CopyRequest> requests;
  for (std::uint64_t i = 0; i < 16; ++i)
    requests.push_back({kDevice + i * 256, 0x10000 + i * 256, 256_B});
  for (const bool descending : {false, true}) {
    if (descending) std::reverse(requests.begin(), requests.end());
    const CopyPlan made = plan(requests, memory);
    ASSERT_EQ(made.fragments.size(), 1U);
    EXPECT_EQ(made.fragments[0].bytes, 4_KiB);
    EXPECT_EQ(made.fragments[0].direction, Direction::to_device);
    EXPECT_FALSE(made.fragments[0].staged);
    EXPECT_EQ(made.merged, 15U);
  }
}

TEST(CopyPlan, OneSideAloneDoesNotJoin) {
  Memory memory;
  memory.pin(0x10000, 0x10000);
  const CopyPlan made = plan({{kDevice, 0x10000, 256_B}, {kDevice + 256, 0x11000, 256_B}}, memory);
  EXPECT_EQ(made.fragments.size(), 2U);
  EXPECT_EQ(made.merged, 0U);
}

TEST(CopyPlan, NoCopyCrossesTheBorderOfARegistration) {
  Memory memory;
  memory.pin(0x10000, 0x1000);
  memory.pin(0x11000, 0x1000);
  const CopyPlan made = plan({{0x10800, kDevice, 4_KiB}}, memory);
  ASSERT_EQ(made.fragments.size(), 2U);
  EXPECT_EQ(made.fragments[0].destination, 0x10800U);
  EXPECT_EQ(made.fragments[0].bytes, 2_KiB);
  EXPECT_EQ(made.fragments[1].source, kDevice + 0x800);
  EXPECT_EQ(made.fragments[1].bytes, 2_KiB);
  EXPECT_EQ(made.fragments[1].direction, Direction::to_host);
}

TEST(CopyPlan, NoCopyIsMadeAcrossTwoAllocationsOfTheDevice) {
  Memory memory;
  memory.pin(0x10000, 0x10000);
  memory.cut_allocation(kDevice + 512);
  const std::vector<CopyRequest> up{{kDevice, 0x10000, 256_B},
                                    {kDevice + 256, 0x10100, 256_B},
                                    {kDevice + 512, 0x10200, 256_B},
                                    {kDevice + 768, 0x10300, 256_B}};
  std::vector<CopyRequest> down;
  for (const CopyRequest& request : up)
    down.push_back({request.source, request.destination, request.bytes});
  for (const auto& requests : {up, down}) {
    const CopyPlan made = plan(requests, memory);
    ASSERT_EQ(made.fragments.size(), 2U);
    EXPECT_EQ(made.fragments[0].bytes, 512_B);
    EXPECT_EQ(made.fragments[1].bytes, 512_B);
    EXPECT_EQ(made.merged, 2U);
  }
}

TEST(CopyPlan, PinnedMemoryBesidePageableMemoryIsNotStagedWithIt) {
  Memory memory;
  memory.pin(0x11000, 0x1000);
  const CopyPlan made = plan({{kDevice, 0x10000, 4_KiB},
                              {kDevice + 0x1000, 0x11000, 4_KiB},
                              {kDevice + 0x2000, 0x12000, 4_KiB},
                              {kDevice + 0x3000, 0x13000, 4_KiB}},
                             memory);
  ASSERT_EQ(made.fragments.size(), 3U);
  EXPECT_TRUE(made.fragments[0].staged);
  EXPECT_EQ(made.fragments[0].bytes, 4_KiB);
  EXPECT_FALSE(made.fragments[1].staged);
  EXPECT_EQ(made.fragments[1].bytes, 4_KiB);
  EXPECT_TRUE(made.fragments[2].staged);
  EXPECT_EQ(made.fragments[2].bytes, 8_KiB);
}

TEST(CopyPlan, ARunThatLeftItsRegistrationGoesOnAsWhatItIsIn) {
  Memory memory;
  memory.pin(0x10000, 0x1000);
  memory.pin(0x12000, 0x1000);
  const CopyPlan made =
      plan({{kDevice, 0x10000, 8_KiB}, {kDevice + 0x2000, 0x12000, 4_KiB}}, memory);
  ASSERT_EQ(made.fragments.size(), 3U);
  EXPECT_TRUE(made.fragments[1].staged);
  EXPECT_EQ(made.fragments[1].bytes, 4_KiB);
  EXPECT_FALSE(made.fragments[2].staged);
}

TEST(CopyPlan, WhatRunsOnIntoPageableMemoryIsStagedFromThere) {
  Memory memory;
  memory.pin(0x10000, 0x1000);
  const CopyPlan made = plan({{kDevice, 0x10c00, 4_KiB}}, memory);
  ASSERT_EQ(made.fragments.size(), 2U);
  EXPECT_FALSE(made.fragments[0].staged);
  EXPECT_EQ(made.fragments[0].bytes, 1_KiB);
  EXPECT_TRUE(made.fragments[1].staged);
  EXPECT_EQ(made.fragments[1].bytes, 3_KiB);
}

TEST(CopyPlan, DropsWhatIsEmptyAndWhatIsAskedTwice) {
  const Memory memory;
  const CopyPlan made = plan(
      {{kDevice, 0x10000, 64_B}, {kDevice + 512, 0x20000, 0_B}, {kDevice, 0x10000, 64_B}}, memory);
  EXPECT_EQ(made.fragments.size(), 1U);
  EXPECT_EQ(made.dropped, 2U);
  EXPECT_TRUE(plan({}, memory).fragments.empty());
}

TEST(CopyPlan, RefusesWhatHasNoMeaning) {
  const Memory memory;
  EXPECT_EQ(refusal({{kDevice, 0x10000, 64_B}, {kDevice + 63, 0x20000, 64_B}}, memory),
            Code::invalid_argument)
      << "the byte in common would depend on chance";
  EXPECT_EQ(refusal({{~std::uint64_t{0} - 10, kDevice, 64_B}}, memory), Code::invalid_argument);
  EXPECT_EQ(refusal({{0x10000, 0x20000, 64_B}}, memory), Code::invalid_argument);
}

TEST(CopyPlan, AnErrorOfTheDriverIsPassedOn) {
  const CopyRequest request{kDevice, 0x10000, 64_B};
  const auto lost = [](std::uint64_t) -> Result<MemoryRange> {
    return Status(Code::device_lost, "test");
  };
  EXPECT_EQ(plan_copies(std::span(&request, 1), lost).error().code(), Code::device_lost);
}

// Against the copies made one by one: the plan moves the same bytes to the same places, each once,
// crosses no border, and stages exactly what is not pinned.
TEST(CopyPlanModel, MovesTheSameBytesAsTheRequests) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    constexpr std::uint64_t kUnit = 16;
    constexpr std::uint64_t kUnits = 256;
    Memory memory;
    for (std::uint64_t at = 0; at < kUnits;) {
      const std::uint64_t length = 1 + random() % 40;
      if (random() % 3 != 0) memory.pin(0x10000 + at * kUnit, length * kUnit);
      at += length;
    }
    const bool upload = random() % 2 == 0;
    std::vector<CopyRequest> requests;
    std::map<std::uint64_t, std::uint64_t> expected;  // byte by byte: destination -> source
    std::uint64_t source = random() % kUnits;
    for (std::uint64_t at = 0; at < kUnits;) {
      const std::uint64_t length = 1 + random() % 12;
      if (random() % 4 == 0) source = random() % kUnits;  // else the next request continues
      const std::uint64_t end = std::min({at + length, kUnits, at + (kUnits - source % kUnits)});
      const CopyRequest request{(upload ? kDevice : 0x10000) + at * kUnit,
                                (upload ? 0x10000 : kDevice) + (source % kUnits) * kUnit,
                                Bytes{(end - at) * kUnit}};
      requests.push_back(request);
      for (std::uint64_t byte = 0; byte < request.bytes.count; ++byte)
        expected[request.destination + byte] = request.source + byte;
      source += end - at;
      at = end + random() % 2;
    }
    std::shuffle(requests.begin(), requests.end(), random);
    const CopyPlan made = plan(requests, memory);
    std::map<std::uint64_t, std::uint64_t> moved;
    for (const Fragment& fragment : made.fragments) {
      const std::uint64_t host = upload ? fragment.source : fragment.destination;
      const MemoryRange range = *memory(host);
      EXPECT_EQ(fragment.staged, range.kind == MemoryKind::pageable) << "seed " << seed;
      if (!fragment.staged) {
        EXPECT_LE(host + fragment.bytes.count, range.end) << "seed " << seed;
      }
      for (std::uint64_t byte = 0; byte < fragment.bytes.count; ++byte) {
        EXPECT_TRUE(moved.emplace(fragment.destination + byte, fragment.source + byte).second)
            << "a byte is written twice, seed " << seed;
      }
    }
    ASSERT_EQ(moved, expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace ferry
