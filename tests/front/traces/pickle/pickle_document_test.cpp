// SPDX-License-Identifier: Apache-2.0
#include "front/traces/pickle/pickle_document.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ferry::replay {
namespace {

TEST(PickleDocument, NoValueIsNotNone) {
  EXPECT_TRUE(PickleValue{}.empty());
  EXPECT_FALSE(PickleDocument::make_none().empty());
  EXPECT_FALSE(PickleDocument::make_boolean(false).empty());
}

TEST(PickleDocument, KeepsIntegersOfEverySize) {
  PickleDocument document("");
  for (const std::uint64_t magnitude :
       {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << 60) - 1, std::uint64_t{1} << 60,
        std::uint64_t{1} << 61, std::numeric_limits<std::uint64_t>::max()}) {
    for (const bool negative : {false, true}) {
      for (const bool beyond : {false, true}) {
        const PickleValue value = document.make_integer({negative, beyond, magnitude});
        ASSERT_FALSE(value.empty());
        ASSERT_EQ(document.kind(value), PickleKind::integer);
        ASSERT_FALSE(document.is_container(value));
        const PickleInteger read = document.integer(value);
        EXPECT_EQ(read.negative, negative);
        EXPECT_EQ(read.beyond_64_bits, beyond);
        EXPECT_EQ(read.magnitude, magnitude);
      }
    }
  }
}

TEST(PickleDocument, TextsPointIntoTheSource) {
  const std::string source = "some text";
  PickleDocument document(source);
  const PickleValue text = document.make_text(5, 4, PickleKind::text);
  const PickleValue bytes = document.make_text(0, 4, PickleKind::bytes);
  EXPECT_EQ(document.text(text), "text");
  EXPECT_EQ(document.text(text).data(), source.data() + 5);
  EXPECT_EQ(document.kind(text), PickleKind::text);
  EXPECT_EQ(document.text(bytes), "some");
  EXPECT_EQ(document.kind(bytes), PickleKind::bytes);
}

TEST(PickleDocument, ContainersKeepOrderKindAndPlace) {
  PickleDocument document("");
  const PickleValue list = document.make_container(PickleKind::list, 17);
  const PickleValue dict = document.make_container(PickleKind::dict, 18);
  EXPECT_TRUE(document.is_container(list));
  EXPECT_EQ(document.kind(list), PickleKind::list);
  EXPECT_EQ(document.kind(dict), PickleKind::dict);
  EXPECT_EQ(document.offset(list), 17U);
  EXPECT_EQ(document.offset(dict), 18U);
  EXPECT_EQ(document.size(list), 0U);
  EXPECT_FALSE(document.items(list).next());
}

// Appended in pieces of many sizes, interleaved with other values, over several pages.
TEST(PickleDocument, LongListsCrossPages) {
  PickleDocument document("");
  const PickleValue list = document.make_container(PickleKind::list, 0);
  const PickleValue other = document.make_container(PickleKind::list, 0);
  std::uint64_t made = 0;
  for (const std::uint64_t count : {1U, 2U, 70'000U, 3U, 65'534U, 65'536U, 200'000U, 1U}) {
    std::vector<PickleValue> values;
    for (std::uint64_t i = 0; i < count; ++i) {
      values.push_back(document.make_integer({false, false, made++}));
    }
    document.append(list, values.data(), values.size());
    document.append(other, values.data(), 1);
  }
  EXPECT_EQ(document.size(list), made);
  EXPECT_EQ(document.size(other), 8U);
  PickleItems items = document.items(list);
  for (std::uint64_t i = 0; i < made; ++i) {
    const auto value = items.next();
    ASSERT_TRUE(value);
    ASSERT_EQ(document.integer(*value).magnitude, i);
  }
  EXPECT_FALSE(items.next());
  EXPECT_FALSE(items.next());
  EXPECT_LT(document.memory_bytes(), made * sizeof(PickleValue) + 8 * 65'536 * sizeof(PickleValue));
}

TEST(PickleDocument, MovesWithItsValues) {
  PickleDocument document("abc");
  const PickleValue text = document.make_text(1, 2, PickleKind::text);
  PickleValue list = document.make_container(PickleKind::list, 0);
  document.append(list, &text, 1);
  document.set_root(list);
  PickleDocument moved = std::move(document);
  EXPECT_EQ(moved.text(moved.items(moved.root()).next().value()), "bc");
}

TEST(PickleDocument, EveryKindHasAPhrase) {
  EXPECT_STREQ(kind_phrase(PickleKind::none), "None");
  EXPECT_STREQ(kind_phrase(PickleKind::boolean), "a truth value");
  EXPECT_STREQ(kind_phrase(PickleKind::integer), "a whole number");
  EXPECT_STREQ(kind_phrase(PickleKind::real), "a floating-point number");
  EXPECT_STREQ(kind_phrase(PickleKind::text), "a text");
  EXPECT_STREQ(kind_phrase(PickleKind::bytes), "raw bytes");
  EXPECT_STREQ(kind_phrase(PickleKind::list), "a list");
  EXPECT_STREQ(kind_phrase(PickleKind::tuple), "a tuple");
  EXPECT_STREQ(kind_phrase(PickleKind::dict), "a dict");
  EXPECT_STREQ(kind_phrase(PickleKind::set), "a set");
}

}  // namespace
}  // namespace ferry::replay
