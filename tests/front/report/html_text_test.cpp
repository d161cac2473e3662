// SPDX-License-Identifier: Apache-2.0
#include "front/report/html_text.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>

namespace ferry::replay {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

TEST(EscapeHtml, TakesTheMeaningFromMarkup) {
  EXPECT_EQ(escape_html("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
  EXPECT_EQ(escape_html("&lt;"), "&amp;lt;");
  EXPECT_EQ(escape_html(""), "");
}

TEST(EscapeHtml, KeepsLinesAndTabsButNoOtherControlCharacter) {
  EXPECT_EQ(escape_html("a\n\tb"), "a\n\tb");
  EXPECT_EQ(escape_html(std::string_view("a\0b\x1b\x7f", 5)), "a\uFFFDb\uFFFD\uFFFD");
}

TEST(EscapeHtml, KeepsWellFormedUtf8) {
  for (const std::string_view text :
       {"é", "\u0080", "\u07FF", "\u0800", "\uD7FF", "\uFFFD", "\U00010000", "\U0010FFFF"}) {
    EXPECT_EQ(escape_html(text), text);
  }
}

TEST(EscapeHtml, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(escape_html("\xff"), "\uFFFD");
  EXPECT_EQ(escape_html("\x80z"), "\uFFFDz");
  EXPECT_EQ(escape_html("\xc3"), "\uFFFD");       // cut off
  EXPECT_EQ(escape_html("\xc3<"), "\uFFFD&lt;");  // a lead byte hides no markup
  EXPECT_EQ(escape_html("\xe2\x82<"), "\uFFFD\uFFFD&lt;");
  EXPECT_EQ(escape_html("\xc0\xbc"), "\uFFFD\uFFFD");  // overlong '<'
  EXPECT_EQ(escape_html("\xe0\x80\xbc"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(escape_html("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(escape_html("\xf0\x80\x80\xbc"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(escape_html("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // beyond U+10FFFF
}

TEST(Grouped, PutsACommaBeforeEveryThirdDigit) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(123456), "123,456");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(kMost), "18,446,744,073,709,551,615");
}

TEST(PreciseBytes, ShowsThreeDecimalsInTheLargestUnitThatFits) {
  EXPECT_EQ(precise_bytes(0_B), "0\u00A0B");
  EXPECT_EQ(precise_bytes(1023_B), "1023\u00A0B");
  EXPECT_EQ(precise_bytes(1_KiB), "1\u00A0KiB");
  EXPECT_EQ(precise_bytes(1536_B), "1.5\u00A0KiB");
  EXPECT_EQ(precise_bytes(1701_MiB), "1.661\u00A0GiB");
  EXPECT_EQ(precise_bytes(11851_MiB), "11.573\u00A0GiB");
  EXPECT_EQ(precise_bytes(904_MiB + 205_KiB), "904.2\u00A0MiB");
  EXPECT_EQ(precise_bytes(3696_MiB), "3.609\u00A0GiB");
  EXPECT_EQ(precise_bytes(3694_MiB), "3.607\u00A0GiB") << "2 MiB less";
  EXPECT_EQ(precise_bytes(3694_MiB, " "), "3.607 GiB");
  EXPECT_EQ(precise_bytes(100_GiB), "100\u00A0GiB");
  EXPECT_EQ(precise_bytes(Bytes{kMost}), "16\u00A0EiB");
}

TEST(PreciseBytes, RoundsIntoTheNextUnit) {
  EXPECT_EQ(precise_bytes(1_GiB - 1_B), "1\u00A0GiB");
  EXPECT_EQ(precise_bytes(1_GiB - 1_KiB), "1023.999\u00A0MiB");
  EXPECT_EQ(precise_bytes(10_GiB - 1_B), "10\u00A0GiB");
  EXPECT_EQ(precise_bytes(100_GiB - 1_B), "100\u00A0GiB");
}

TEST(RatioText, HasThreeDecimals) {
  EXPECT_EQ(ratio_text(1006_B, 1000_B), "1.006×");
  EXPECT_EQ(ratio_text(0_B, 5_B), "0.000×");
  EXPECT_EQ(ratio_text(5_B, 0_B), "–");
}

TEST(Counted, UsesThePlural) {
  EXPECT_EQ(counted(0, "event"), "0 events");
  EXPECT_EQ(counted(1, "event"), "1 event");
  EXPECT_EQ(counted(2000, "event"), "2,000 events");
}

}  // namespace
}  // namespace ferry::replay
