// SPDX-License-Identifier: Apache-2.0
#include "front/traces/snapshot_fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "front/traces/pickle/pickle.hpp"
#include "front/traces/pickle/pickle_writer.hpp"

namespace ferry::replay {
namespace {

using testing::pickled;
using testing::Py;

constexpr SnapshotPlace kEntry{SnapshotPlace::Kind::entry, 3, 17, 99};

// Decodes one dict and asks for one key of it.
class Asked {
 public:
  explicit Asked(const Py& dict, std::string_view key = "key")
      : pickle_(pickled(dict)),
        document_(decode_pickle(pickle_).value()),
        fields(document_, 1000),
        field{{{key, {}}}} {
    collected = fields.collect(document_.root(), kEntry, field);
  }
  [[nodiscard]] std::string error() const { return fields.error()->message; }

 private:
  std::string pickle_;
  PickleDocument document_;

 public:
  SnapshotFields fields;
  std::array<SnapshotField, 1> field;
  bool collected = false;
};

TEST(SnapshotFields, PlacesInWords) {
  EXPECT_EQ(kEntry.describe(), "device 3, entry 17");
  EXPECT_EQ((SnapshotPlace{SnapshotPlace::Kind::segment, 4, 0, 0}.describe()), "segment 4");
  EXPECT_EQ((SnapshotPlace{SnapshotPlace::Kind::block, 4, 5, 0}.describe()), "segment 4, block 5");
  EXPECT_EQ(SnapshotPlace{}.describe(), "the snapshot");
}

TEST(SnapshotFields, ReadsNumbers) {
  std::uint64_t number = 0;
  Asked asked(Py::Dict{{"other", 1}, {"key", 77}});
  ASSERT_TRUE(asked.collected);
  EXPECT_TRUE(asked.fields.number(asked.field[0], kEntry, 77, number));
  EXPECT_EQ(number, 77U);
  EXPECT_FALSE(asked.fields.number(asked.field[0], kEntry, 76, number));
  EXPECT_EQ(asked.error(), "is no valid snapshot: device 3, entry 17: 'key' is larger than 76");
  EXPECT_EQ(asked.fields.error()->offset, 99U);
}

TEST(SnapshotFields, NamesWhatIsWrongWithANumber) {
  const auto wrong = [](const Py& dict) {
    Asked asked(dict);
    std::uint64_t number = 0;
    EXPECT_FALSE(asked.fields.number(asked.field[0], kEntry, 100, number));
    return asked.error().substr(asked.error().rfind(": ") + 2);
  };
  EXPECT_EQ(wrong(Py::Dict{}), "'key' is missing");
  EXPECT_EQ(wrong(Py::Dict{{"key", "5"}}), "'key' is a text, not a whole number");
  EXPECT_EQ(wrong(Py::Dict{{"key", 5.0}}), "'key' is a floating-point number, not a whole number");
  EXPECT_EQ(wrong(Py::Dict{{"key", true}}), "'key' is a truth value, not a whole number");
  EXPECT_EQ(wrong(Py::Dict{{"key", Py{}}}), "'key' is None, not a whole number");
  EXPECT_EQ(wrong(Py::Dict{{"key", Py::List{}}}), "'key' is a list, not a whole number");
  EXPECT_EQ(wrong(Py::Dict{{"key", -1}}), "'key' is negative");
  EXPECT_EQ(wrong(Py::Dict{{"key", std::int64_t{1} << 62}}), "'key' is larger than 100");
}

TEST(SnapshotFields, NumbersBeyond64BitsAreTooLarge) {
  const std::string pickle("\x80\x02}U\x03key\x8a\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01s.",
                           22);
  auto document = decode_pickle(pickle);
  ASSERT_TRUE(document) << document.error().describe();
  SnapshotFields fields(*document, 1000);
  std::array<SnapshotField, 1> field{{{"key", {}}}};
  ASSERT_TRUE(fields.collect(document->root(), kEntry, field));
  std::uint64_t number = 0;
  EXPECT_FALSE(fields.number(field[0], kEntry, ~std::uint64_t{0}, number));
  EXPECT_THAT(fields.error()->message, ::testing::HasSubstr("is larger than"));
}

TEST(SnapshotFields, AMissingOptionalNumberLeavesTheDefault) {
  std::uint64_t number = 42;
  Asked missing{Py::Dict{}};
  EXPECT_TRUE(missing.fields.optional_number(missing.field[0], kEntry, 100, number));
  EXPECT_EQ(number, 42U);
  Asked wrong(Py::Dict{{"key", "x"}});
  EXPECT_FALSE(wrong.fields.optional_number(wrong.field[0], kEntry, 100, number));
}

TEST(SnapshotFields, OfARepeatedKeyTheLastCounts) {
  std::uint64_t number = 0;
  Asked asked(Py::Dict{{"key", 1}, {"key", 2}});
  EXPECT_TRUE(asked.fields.number(asked.field[0], kEntry, 100, number));
  EXPECT_EQ(number, 2U);
}

TEST(SnapshotFields, ReadsTextsAndLists) {
  std::string_view text;
  PickleValue list;
  Asked texts(Py::Dict{{"key", "alloc"}});
  EXPECT_TRUE(texts.fields.text(texts.field[0], kEntry, text));
  EXPECT_EQ(text, "alloc");
  EXPECT_FALSE(texts.fields.optional_list(texts.field[0], kEntry, list));
  EXPECT_THAT(texts.error(), ::testing::EndsWith("'key' is a text, not a list"));

  Asked lists(Py::Dict{{"key", Py::List{1, 2}}});
  EXPECT_TRUE(lists.fields.optional_list(lists.field[0], kEntry, list));
  EXPECT_EQ(lists.fields.document().size(list), 2U);
  EXPECT_FALSE(lists.fields.text(lists.field[0], kEntry, text));
  EXPECT_THAT(lists.error(), ::testing::EndsWith("'key' is a list, not a text"));

  Asked tuple(Py::Dict{{"key", Py::Tuple{{1}}}});
  EXPECT_TRUE(tuple.fields.optional_list(tuple.field[0], kEntry, list));
  EXPECT_FALSE(list.empty());
  Asked none(Py::Dict{{"key", Py{}}});
  EXPECT_TRUE(none.fields.optional_list(none.field[0], kEntry, list));
  EXPECT_TRUE(list.empty());
}

TEST(SnapshotFields, OnlyADictHasKeys) {
  Asked asked(Py::List{1});
  EXPECT_FALSE(asked.collected);
  EXPECT_EQ(asked.error(), "is no valid snapshot: device 3, entry 17: it is a list, not a dict");
}

TEST(SnapshotFields, CountsWhatIsVisited) {
  const std::string pickle = pickled(Py::Dict{{"a", 1}, {"b", 2}});
  auto document = decode_pickle(pickle);
  SnapshotFields fields(*document, 10);
  std::array<SnapshotField, 1> field{{{"a", {}}}};
  EXPECT_TRUE(fields.collect(document->root(), kEntry, field));  // 4
  EXPECT_TRUE(fields.collect(document->root(), kEntry, field));  // 8
  EXPECT_TRUE(fields.visit(1));
  EXPECT_FALSE(fields.collect(document->root(), kEntry, field));
  EXPECT_THAT(fields.error()->message, ::testing::HasSubstr("over and over"));
}

}  // namespace
}  // namespace ferry::replay
