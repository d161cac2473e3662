// SPDX-License-Identifier: Apache-2.0
#include "front/report/comparison_html.hpp"

#include <gmock/gmock.h>

#include "front/report/comparison_samples.hpp"

namespace ferry::replay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ComparisonHtml, DrawsMemoryOverOperatorsAndTheTable) {
  const std::string page = comparison_html(testing_report::comparison());
  // 2 GiB is the top of the picture, 1 GiB the middle of it, and operator 50 of 100.
  EXPECT_THAT(page, HasSubstr("d=\"M100 5000L5000 0L10000 0\""));
  EXPECT_THAT(page, HasSubstr("class=\"live\" d=\"M100 5000L5000 2500L10000 5000V10000H0z\""));
  EXPECT_THAT(page, HasSubstr("<th>native</th><td>1.5\u00A0GiB</td><td>2\u00A0GiB</td>"));
  EXPECT_THAT(page, HasSubstr("ferry: OutOfMemoryError: no"));
}

TEST(ComparisonHtml, WhatComesFromOutsideIsEscaped) {
  Comparison comparison = testing_report::comparison();
  comparison.program = {"<script>"};
  comparison.runs[1].error = "a < b";
  const std::string page = comparison_html(comparison);
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
  EXPECT_THAT(page, HasSubstr("a &lt; b"));
}

}  // namespace
}  // namespace ferry::replay
