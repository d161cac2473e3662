// SPDX-License-Identifier: Apache-2.0
#include "front/traces/messages.hpp"

#include <gtest/gtest.h>

namespace ferry::replay {
namespace {

TEST(Messages, QuotesPlainTextAsItIs) {
  EXPECT_EQ(in_quotes("os.system"), "'os.system'");
  EXPECT_EQ(in_quotes(""), "''");
}

TEST(Messages, ShowsWhatCannotBePrinted) {
  EXPECT_EQ(in_quotes("a\n\x1b[31m\x80\x7f"), "'a\\x0a\\x1b[31m\\x80\\x7f'");
}

TEST(Messages, CountsInWords) {
  EXPECT_EQ(counted(1, "free is", "frees are"), "1 free is");
  EXPECT_EQ(counted(0, "free is", "frees are"), "0 frees are");
  EXPECT_EQ(counted(3, "free is", "frees are"), "3 frees are");
}

TEST(Messages, LeavesNamesReadableAndHarmless) {
  EXPECT_EQ(printable("a b.pickle"), "a b.pickle");
  EXPECT_EQ(printable("\xc3\xa4"), "\xc3\xa4") << "a letter";
  EXPECT_EQ(printable("e\x1b[31m\nx\x7f"), "e\\x1b[31m\\x0ax\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\xc2\\x9b31m")
      << "a control character of two bytes";
}

TEST(Messages, CutsLongText) {
  const std::string shown = in_quotes(std::string(1000, 'x'));
  EXPECT_EQ(shown, "'" + std::string(60, 'x') + "'...");
}

}  // namespace
}  // namespace ferry::replay
