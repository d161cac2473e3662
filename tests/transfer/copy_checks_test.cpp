// SPDX-License-Identifier: Apache-2.0
#include "transfer/copy_checks.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace ferry {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t kDevice = std::uint64_t{1} << 40;
constexpr std::uint64_t kMapping = 0x10000;

// Below kDevice pageable memory; from there two mappings that touch, then reserved addresses.
Result<MemoryRange> memory(std::uint64_t address) {
  if (address < kDevice) return MemoryRange{};
  const std::uint64_t mapping = (address - kDevice) / kMapping;
  const std::uint64_t end = kDevice + 8 * kMapping;
  if (mapping >= 2) return MemoryRange{MemoryKind::reserved, end, 0};
  return MemoryRange{MemoryKind::device, end, kDevice + (mapping + 1) * kMapping};
}

// What look_at says against a request in place 7; "" when it takes it.
std::string objection(const CopyRequest& request) {
  const DescribeMemory describe = memory;
  Surroundings to(describe);
  Surroundings from(describe);
  const Result<Sides, Failure> sides = look_at({request, 7}, to, from);
  if (sides.ok()) return "";
  EXPECT_EQ(sides.error().code(), Code::invalid_argument);
  return sides.error().describe();
}

TEST(CopyChecks, TheDeviceSideMayGoToTheVeryEndOfItsMemory) {
  EXPECT_EQ(objection({kDevice, 0x1000, Bytes{2 * kMapping}}), "");
  EXPECT_EQ(objection({0x1000, kDevice + 5, Bytes{2 * kMapping - 5}}), "");
}

TEST(CopyChecks, OneByteMoreIsRefusedInWords) {
  EXPECT_THAT(objection({kDevice + 16, 0x1000, Bytes{2 * kMapping - 15}}),
              AllOf(HasSubstr("requests[7] writes 131057 bytes at 0x10000000010"),
                    HasSubstr("ends at 0x10000020000, after 131056 bytes")));
  EXPECT_THAT(objection({0x1000, kDevice + 16, Bytes{2 * kMapping - 15}}),
              AllOf(HasSubstr("requests[7] reads 131057 bytes at 0x10000000010"),
                    HasSubstr("ends at 0x10000020000, after 131056 bytes")));
}

TEST(CopyChecks, AnAddressWithoutMemoryIsRefusedInWords) {
  EXPECT_THAT(objection({0x1000, kDevice + 2 * kMapping, 64_B}),
              AllOf(HasSubstr("requests[7] reads 64 bytes at 0x10000020000"),
                    HasSubstr("no memory is mapped")));
  EXPECT_THAT(objection({kDevice + 3 * kMapping, kDevice, 64_B}),
              AllOf(HasSubstr("requests[7] writes 64 bytes at 0x10000030000"),
                    HasSubstr("no memory is mapped")));
}

TEST(CopyChecks, TwoHostSidesAreRefusedInWords) {
  EXPECT_THAT(objection({0x1000, 0x2000, 64_B}),
              AllOf(HasSubstr("requests[7] writes 64 bytes at 0x1000"), HasSubstr("at 0x2000"),
                    HasSubstr("neither is memory of a device")));
}

// What by_destination says; "" when it takes them all.
std::string objection_to(const std::vector<CopyRequest>& requests) {
  const auto ordered = by_destination(requests);
  if (ordered.ok()) return "";
  EXPECT_EQ(ordered.error().code(), Code::invalid_argument);
  return ordered.error().describe();
}

TEST(CopyChecks, NullAndTheEndOfAllAddressesAreRefusedInWords) {
  const CopyRequest good{kDevice, 0x1000, 64_B};
  EXPECT_THAT(objection_to({good, {0, 0x1000, 64_B}}),
              HasSubstr("requests[1], of 64 bytes, has NULL as its destination"));
  EXPECT_THAT(objection_to({good, good, {kDevice, 0, 32_B}}),
              HasSubstr("requests[2], of 32 bytes, has NULL as its source"));
  EXPECT_THAT(
      objection_to({{kDevice, 0x1000, Bytes{~std::uint64_t{0}}}}),
      HasSubstr("requests[0] writes 18446744073709551615 bytes at 0x10000000000, which runs"));
  EXPECT_EQ(objection_to({{0, 0, 0_B}}), "") << "nothing to copy";
}

TEST(CopyChecks, WritersOfTheSameBytesAreBothNamed) {
  EXPECT_THAT(
      objection_to(
          {{kDevice + 63, 0x1000, 64_B}, {kDevice + 512, 0x1000, 64_B}, {kDevice, 0x2000, 64_B}}),
      AllOf(HasSubstr("requests[2] writes 64 bytes at 0x10000000000"),
            HasSubstr("requests[0] writes 64 bytes at 0x1000000003f"),
            HasSubstr("write the same bytes")));
}

TEST(CopyChecks, AReaderOfWhatTheBatchWritesIsRefusedWithItsWriter) {
  const CopyRequest writer{kDevice + 100, 0x1000, 100_B};
  for (const std::uint64_t source : {kDevice + 37, kDevice + 120, kDevice + 199}) {
    EXPECT_THAT(
        objection_to({{0x9000, source, 64_B}, {kDevice, 0x8000, 20_B}, writer}),
        AllOf(HasSubstr(fmt::format("requests[0] reads 64 bytes at {:#x}", source)),
              HasSubstr("requests[2] writes 100 bytes at 0x10000000064"), HasSubstr("unordered")));
  }
  EXPECT_EQ(objection_to({writer, {0x9000, kDevice + 36, 64_B}}), "") << "ends where it begins";
  EXPECT_EQ(objection_to({writer, {0x9000, kDevice + 200, 64_B}}), "") << "begins where it ends";
  EXPECT_EQ(objection_to({{kDevice, 0x1000, 64_B}, {kDevice + 64, 0x1000, 64_B}}), "")
      << "two may read the same";
}

TEST(CopyChecks, SidesThatOverlapAreRefused) {
  for (const std::uint64_t source : {kDevice, kDevice + 63, kDevice - 63}) {
    EXPECT_THAT(
        objection_to({{0x9000, 0x1000, 64_B}, {kDevice, source, 64_B}}),
        AllOf(HasSubstr("requests[1] writes 64 bytes at 0x10000000000"),
              HasSubstr(fmt::format("reads them at {:#x}: its two sides overlap", source))));
  }
  EXPECT_EQ(objection_to({{kDevice, kDevice + 64, 64_B}}), "") << "side by side";
}

// Against a comparison of every pair: whether a batch is taken, among many small ones.
TEST(CopyChecksModel, RefusesExactlyWhatMeets) {
  int taken = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<CopyRequest> requests(1 + random() % 4);
    for (CopyRequest& request : requests)
      request = {1 + random() % 60, 1 + random() % 60, Bytes{1 + random() % 9}};
    const auto meet = [](std::uint64_t a, Bytes a_bytes, std::uint64_t b, Bytes b_bytes) {
      return a < b + b_bytes.count && b < a + a_bytes.count;
    };
    bool good = true;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      for (std::size_t j = 0; j < requests.size(); ++j) {
        const CopyRequest& a = requests[i];
        const CopyRequest& b = requests[j];
        if (meet(a.destination, a.bytes, b.source, b.bytes)) good = false;
        const bool same =
            a.destination == b.destination && a.source == b.source && a.bytes == b.bytes;
        if (i != j && !same && meet(a.destination, a.bytes, b.destination, b.bytes)) good = false;
      }
    }
    taken += good ? 1 : 0;
    EXPECT_EQ(objection_to(requests).empty(), good) << "seed " << seed;
  }
  EXPECT_GT(taken, 200);
}

TEST(CopyChecks, AnErrorOfTheDriverIsPassedOn) {
  const DescribeMemory lost = [](std::uint64_t address) -> Result<MemoryRange> {
    if (address < kDevice + kMapping) return memory(address);
    return Status(Code::device_lost, "test");
  };
  Surroundings to(lost);
  Surroundings from(lost);
  EXPECT_EQ(look_at({{kDevice, 0x1000, Bytes{kMapping + 1}}, 0}, to, from).error().code(),
            Code::device_lost);
}

TEST(Surroundings, AsksOnceForWhatOneAnswerCovers) {
  int questions = 0;
  const DescribeMemory counted = [&](std::uint64_t address) {
    ++questions;
    return memory(address);
  };
  Surroundings around(counted);
  EXPECT_EQ(around.at(kDevice + 10)->memory_end, kDevice + kMapping);
  EXPECT_EQ(around.at(kDevice + kMapping - 1)->memory_end, kDevice + kMapping);
  EXPECT_EQ(questions, 1);
  EXPECT_EQ(around.at(kDevice + kMapping)->memory_end, kDevice + 2 * kMapping);
  EXPECT_EQ(questions, 2);
  EXPECT_EQ(around.at(kDevice)->memory_end, kDevice + kMapping) << "below the last answer";
  EXPECT_EQ(around.at(0x1000)->kind, MemoryKind::pageable);
  EXPECT_EQ(around.at(kDevice)->kind, MemoryKind::device) << "nothing is known beside pageable";
}

}  // namespace
}  // namespace ferry
