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

TEST(Messages, CutsLongText) {
  const std::string shown = in_quotes(std::string(1000, 'x'));
  EXPECT_EQ(shown, "'" + std::string(60, 'x') + "'...");
}

}  // namespace
}  // namespace ferry::replay
