// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace ferry {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

TEST(Bytes, ArithmeticStaysInBytes) {
  EXPECT_EQ(3_KiB + 1_KiB, 4_KiB);
  EXPECT_EQ(1_MiB - 1_KiB, 1023_KiB);
  EXPECT_EQ(2_MiB * 3, 6_MiB);
  EXPECT_EQ(7_MiB / 2_MiB, 3U);
  Bytes sum = 1_GiB;
  sum += 1_B;
  sum -= 1_GiB;
  EXPECT_EQ(sum, 1_B);
  EXPECT_LT(1023_B, 1_KiB);
}

TEST(Bytes, AlignmentRoundsToTheStep) {
  EXPECT_EQ(align_up(0_B, 512_B), 0_B);
  EXPECT_EQ(align_up(1_B, 512_B), 512_B);
  EXPECT_EQ(align_up(512_B, 512_B), 512_B);
  EXPECT_EQ(align_up(513_B, 512_B), 1_KiB);
  EXPECT_EQ(align_down(513_B, 512_B), 512_B);
  EXPECT_EQ(align_down(511_B, 512_B), 0_B);
  EXPECT_EQ(align_up(kMax - 511, 512), kMax - 511);
  EXPECT_TRUE(is_power_of_two(1));
  EXPECT_TRUE(is_power_of_two(std::uint64_t{1} << 63));
  EXPECT_FALSE(is_power_of_two(0));
  EXPECT_FALSE(is_power_of_two(3));
}

TEST(Bytes, FormatIsExactWhereTheUnitDivides) {
  EXPECT_EQ(format_bytes(0_B), "0 B");
  EXPECT_EQ(format_bytes(1023_B), "1023 B");
  EXPECT_EQ(format_bytes(1_KiB), "1 KiB");
  EXPECT_EQ(format_bytes(1025_KiB), "1.0 MiB");
  EXPECT_EQ(format_bytes(1536_B), "1.5 KiB");
  EXPECT_EQ(format_bytes(80_GiB), "80 GiB");
  EXPECT_EQ(format_bytes(1024_GiB), "1 TiB");
  EXPECT_EQ(format_bytes(1024_GiB * 1000), "1000 TiB");
  EXPECT_EQ(format_bytes(1024_GiB * 5120), "5 PiB");
  EXPECT_EQ(format_bytes(Bytes{kMax}), "16.0 EiB");
}

TEST(Bytes, FormatNeverShows1024OfAUnit) {
  EXPECT_EQ(format_bytes(1_MiB - 1_B), "1.0 MiB");
  EXPECT_EQ(format_bytes(1_GiB - 1_KiB), "1.0 GiB");
  EXPECT_EQ(format_bytes(Bytes{1023 * 1024 + 900}), "1023.9 KiB");
}

TEST(Bytes, ParseReadsEveryUnitInAnyCase) {
  EXPECT_EQ(parse_bytes("0"), 0_B);
  EXPECT_EQ(parse_bytes("4096"), 4_KiB);
  EXPECT_EQ(parse_bytes("512B"), 512_B);
  EXPECT_EQ(parse_bytes("64KiB"), 64_KiB);
  EXPECT_EQ(parse_bytes("64kb"), 64_KiB);
  EXPECT_EQ(parse_bytes("2G"), 2_GiB);
  EXPECT_EQ(parse_bytes("2 gib"), 2_GiB);
  EXPECT_EQ(parse_bytes("1.5GiB"), 1536_MiB);
  EXPECT_EQ(parse_bytes("0.5m"), 512_KiB);
  EXPECT_EQ(parse_bytes("3T"), 3072_GiB);
}

TEST(Bytes, ParseIsExactBeyondTheDigitsOfADouble) {
  EXPECT_EQ(parse_bytes("9007199254740993"), Bytes{9007199254740993U});
  EXPECT_EQ(parse_bytes("18446744073709551615"), Bytes{kMax});
  EXPECT_EQ(parse_bytes("9007199254740993K"), Bytes{9007199254740993U << 10});
}

TEST(Bytes, ParseRefusesOverflow) {
  EXPECT_EQ(parse_bytes("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_bytes("16777215T"), Bytes{16777215} * (std::uint64_t{1} << 40));
  EXPECT_EQ(parse_bytes("16777216T"), std::nullopt);
  EXPECT_EQ(parse_bytes("99999999999999999999999999G"), std::nullopt);
  // The fraction reads as 1 and must not carry into a unit that no longer fits.
  EXPECT_EQ(parse_bytes("16777215.99999999999999999999T").value_or(0_B), Bytes{kMax});
}

TEST(Bytes, ParseRefusesBadText) {
  for (const char* text :
       {"",    " ",     "-1",     "+1",   "B",   "KiB", "1X",  "1KiX", "1KiBB", "1 K B", "1.K",
        ".5K", "1..5K", "1.5.5K", "0x10", "1e3", "nan", "inf", "1.5",  "1.5B",  " 1"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << '"' << text << '"';
  }
}

TEST(Bytes, FormatAndParseAgree) {
  for (const Bytes bytes : {0_B, 1_B, 1023_B, 1_KiB, 3_MiB, 141_GiB, 7168_GiB}) {
    EXPECT_EQ(parse_bytes(format_bytes(bytes)), bytes) << format_bytes(bytes);
  }
}

}  // namespace
}  // namespace ferry
