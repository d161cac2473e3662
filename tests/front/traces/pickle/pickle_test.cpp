// SPDX-License-Identifier: Apache-2.0
#include "front/traces/pickle/pickle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "front/traces/files.hpp"
#include "front/traces/pickle/pickle_writer.hpp"

namespace ferry::replay {
namespace {

using ::testing::HasSubstr;
using testing::pickled;
using testing::Py;
using namespace std::string_view_literals;

// A document as text, for comparing.
std::string shown(const PickleDocument& document, PickleValue value) {
  switch (document.kind(value)) {
    case PickleKind::none:
      return "None";
    case PickleKind::boolean:
      return document.boolean(value) ? "True" : "False";
    case PickleKind::integer: {
      const PickleInteger number = document.integer(value);
      return std::string(number.negative ? "-" : "") +
             (number.beyond_64_bits ? "huge" : std::to_string(number.magnitude));
    }
    case PickleKind::real:
      return std::to_string(document.real(value));
    case PickleKind::text:
      return "'" + std::string(document.text(value)) + "'";
    case PickleKind::bytes:
      return "b'" + std::string(document.text(value)) + "'";
    default:
      break;
  }
  std::string out = kind_phrase(document.kind(value)) + std::string("[");
  PickleItems items = document.items(value);
  while (const auto item = items.next()) out += shown(document, *item) + ",";
  return out + "]";
}

std::string decoded(std::string_view pickle) {
  auto document = decode_pickle(pickle);
  if (!document) return document.error().describe();
  return shown(*document, document->root());
}

TEST(Pickle, Containers) {
  EXPECT_EQ(decoded("\x80\x02]."), "a list[]");
  EXPECT_EQ(decoded("\x80\x02)."), "a tuple[]");
  EXPECT_EQ(decoded("\x80\x02}."), "a dict[]");
  EXPECT_EQ(decoded("\x80\x04\x8f."), "a set[]");
  EXPECT_EQ(decoded("K\x01\x85."), "a tuple[1,]");
  EXPECT_EQ(decoded("K\x01K\x02\x86."), "a tuple[1,2,]");
  EXPECT_EQ(decoded("K\x01K\x02K\x03\x87."), "a tuple[1,2,3,]");
  EXPECT_EQ(decoded("(K\x01K\x02K\x03K\x04t."), "a tuple[1,2,3,4,]");
  EXPECT_EQ(decoded("(K\x01K\x02l."), "a list[1,2,]");
  EXPECT_EQ(decoded("(K\x01K\x02"
                    "d."),
            "a dict[1,2,]");
  EXPECT_EQ(decoded("](K\x01K\x02"
                    "eK\x03"
                    "a."),
            "a list[1,2,3,]");
  EXPECT_EQ(decoded("}(K\x01K\x02uK\x03K\x04s."), "a dict[1,2,3,4,]");
  EXPECT_EQ(decoded("\x8f(K\x01K\x02\x90."), "a set[1,2,]");
  EXPECT_EQ(decoded("(K\x01K\x02\x91."), "a set[1,2,]");
}

TEST(Pickle, StackAndMemo) {
  EXPECT_EQ(decoded("K\x01K\x02"
                    "0."),
            "1");
  EXPECT_EQ(decoded("K\x01(K\x02K\x03"
                    "1."),
            "1");
  EXPECT_EQ(decoded("K\x01(0."), "1") << "POP takes a mark as well";
  EXPECT_EQ(decoded("](K\x05"
                    "2e."),
            "a list[5,5,]");
  EXPECT_EQ(decoded("](K\x05q\x07h\x07h\x07"
                    "e."),
            "a list[5,5,5,]");
  EXPECT_EQ(decoded("](K\x05p7\ng7\ne."), "a list[5,5,]");
  EXPECT_EQ(decoded("](K\x05r\x07\x00\x01\x00j\x07\x00\x01\x00"
                    "e."sv),
            "a list[5,5,]");
  EXPECT_EQ(decoded("](K\x05\x94K\x06\x94h\x00h\x01"
                    "e."sv),
            "a list[5,6,5,6,]");
}

TEST(Pickle, WhatFollowsTheEndIsIgnored) {
  EXPECT_EQ(decoded("K\x01.cos\nsystem\n"), "1");
}

TEST(Pickle, AListInItselfIsOneValue) {
  auto document = decode_pickle(
      "]q\x00h\x00"
      "a."sv);
  ASSERT_TRUE(document);
  const auto inside = document->items(document->root()).next();
  ASSERT_TRUE(inside);
  EXPECT_EQ(document->offset(*inside), 0U);
  EXPECT_EQ(document->size(*inside), 1U);
}

TEST(Pickle, OwnWriterInEveryProtocol) {
  const Py value = Py::Dict{{"numbers", Py::List{0, 255, 65536, -1, std::int64_t{1} << 40}},
                            {"flags", Py::Tuple{{true, false, Py{}}}},
                            {"again", Py::List{"numbers", "flags", 0.5}}};
  const std::string expected = decoded(pickled(value, 2));
  EXPECT_THAT(expected, HasSubstr("'numbers',a list[0,255,65536,-1,1099511627776,]"));
  for (const int protocol : {0, 1, 2, 3, 4, 5}) {
    EXPECT_EQ(decoded(pickled(value, protocol)), expected) << protocol;
  }
}

// Python's pickler wrote these; only texts with escapes differ in the old protocols.
TEST(Pickle, PythonsOwnInEveryProtocol) {
  const auto fixture = [](int protocol) {
    std::string name = "snapshot_protocol" + std::to_string(protocol) + ".pickle";
    return testing::file_content(testing::fixture_path(name));
  };
  const std::string expected = decoded(fixture(4));
  EXPECT_THAT(expected, HasSubstr("'huge',huge,"));
  EXPECT_THAT(expected, HasSubstr("'max_split_size',-1,"));
  for (const int protocol : {1, 2, 3, 5}) EXPECT_EQ(decoded(fixture(protocol)), expected);
  const std::string oldest = decoded(fixture(0));
  const auto until = expected.find("'text',");
  ASSERT_NE(until, std::string::npos);
  EXPECT_EQ(oldest.substr(0, until), expected.substr(0, until));
}

// Thirty lists of two references each: 2^30 values for a pickler that copies.
TEST(Pickle, SharedValuesAreNotCopied) {
  std::string pickle = "\x80\x02]q";
  pickle += '\0';
  for (int level = 1; level <= 60; ++level) {
    pickle += {'(', 'h', static_cast<char>(level - 1), 'h', static_cast<char>(level - 1),
               'l', 'q', static_cast<char>(level)};
  }
  pickle += '.';
  auto document = decode_pickle(pickle);
  ASSERT_TRUE(document) << document.error().describe();
  EXPECT_EQ(document->size(document->root()), 2U);
  EXPECT_LE(document->memory_bytes(), 1U << 20);
}

TEST(Pickle, LimitsHold) {
  EXPECT_THAT(decoded(std::string(10'001, '(')), HasSubstr("nests more than 10000 containers"));
  PickleLimits limits;
  limits.stack = 100;
  EXPECT_THAT(decode_pickle(std::string(101, 'N') + ".", limits).error().message,
              HasSubstr("more than 100 values that wait"));
  EXPECT_TRUE(decode_pickle(std::string(100, 'N') + ".", limits));
  limits = {};
  limits.memory_base = 1_MiB;
  limits.memory_per_byte = 0;
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "]0";
  EXPECT_THAT(decode_pickle(many + "N.", limits).error().message,
              HasSubstr("unpacks to more than 1 MiB of values"));
  EXPECT_TRUE(decode_pickle(many + "N."));
  limits = {};
  limits.pops = 1000;
  EXPECT_THAT(decode_pickle(many + "N.", limits).error().message,
              HasSubstr("drops values more than 1000 times"));
  std::string marked;
  for (int i = 0; i < 1001; ++i) marked += "(1";
  EXPECT_THAT(decode_pickle(marked + "N.", limits).error().message, HasSubstr("drops values"));
}

TEST(Pickle, DeepNestingTakesNoStackOfOurs) {
  std::string pickle;
  for (int i = 0; i < 9'000; ++i) pickle += "(";
  pickle += "N";
  for (int i = 0; i < 9'000; ++i) pickle += "l";
  EXPECT_TRUE(decode_pickle(pickle + "."));
  std::string tuples = "N";
  tuples.append(1'000'000, '\x85');
  EXPECT_TRUE(decode_pickle(tuples + "."));
}

TEST(Pickle, BrokenStructureIsExplained) {
  EXPECT_THAT(decoded(""), HasSubstr("no end, at byte 0"));
  EXPECT_THAT(decoded("K\x01"), HasSubstr("is cut off: its pickle has no end, at byte 2"));
  EXPECT_THAT(decoded("."), HasSubstr("finds no value"));
  EXPECT_THAT(decoded("(."), HasSubstr("finds no value"));
  EXPECT_THAT(decoded("0."), HasSubstr("finds no value"));
  EXPECT_THAT(decoded("2."), HasSubstr("finds no value"));
  EXPECT_THAT(decoded("q\x01."), HasSubstr("finds no value"));
  EXPECT_THAT(decoded("\x94."), HasSubstr("finds no value"));
  EXPECT_THAT(decoded("K\x01\x86."), HasSubstr("finds no value"));
  EXPECT_THAT(decoded("K\x01(K\x02\x86."), HasSubstr("finds no value")) << "not beneath a mark";
  EXPECT_THAT(decoded("K\x01"
                      "e."),
              HasSubstr("ends a container it never began"));
  EXPECT_THAT(decoded("t."), HasSubstr("ends a container it never began"));
  EXPECT_THAT(decoded("1."), HasSubstr("ends a container it never began"));
  EXPECT_THAT(decoded("(K\x01"
                      "e."),
              HasSubstr("without their container"));
  EXPECT_THAT(decoded("K\x01((K\x01"
                      "e."),
              HasSubstr("without their container"));
  EXPECT_THAT(decoded("}K\x01"
                      "a."),
              HasSubstr("items for a list are put into a dict"));
  EXPECT_THAT(decoded("K\x01K\x01"
                      "a."),
              HasSubstr("items for a list are put into a whole number"));
  EXPECT_THAT(decoded("](K\x01u."), HasSubstr("items for a dict are put into a list"));
  EXPECT_THAT(decoded("}(K\x01u."), HasSubstr("a key and no value"));
  EXPECT_THAT(decoded("(K\x01"
                      "d."),
              HasSubstr("a key and no value"));
  EXPECT_THAT(decoded("h\x05."), HasSubstr("refers to memo entry 5, which it never stored"));
  EXPECT_THAT(decoded("gx\n."), HasSubstr("'x' where the number of a memo entry belongs"));
  EXPECT_THAT(decoded("Ng-1\n."), HasSubstr("number of a memo entry"));
  EXPECT_THAT(decoded("\x80\x06N."), HasSubstr("protocol 6; the newest that is known is 5"));
  EXPECT_THAT(decoded("\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00N."sv),
              HasSubstr("a frame of 5 bytes is announced and 2 are there, at byte 2"));
}

// Cut anywhere, a pickle is an error with a place in what is left, never a crash or a success.
TEST(Pickle, EveryTruncationIsAnError) {
  for (int protocol = 0; protocol <= 5; ++protocol) {
    const std::string whole = testing::file_content(
        testing::fixture_path("snapshot_protocol" + std::to_string(protocol) + ".pickle"));
    ASSERT_TRUE(decode_pickle(whole));
    for (std::size_t kept = 0; kept < whole.size(); ++kept) {
      // A copy of its own, so that a sanitizer sees a read beyond the end.
      const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(kept));
      auto document = decode_pickle({cut.data(), cut.size()});
      ASSERT_FALSE(document) << protocol << " " << kept;
      ASSERT_LE(document.error().offset.value(), kept);
    }
  }
}

TEST(Pickle, IsToldByItsFirstBytes) {
  EXPECT_TRUE(looks_like_pickle("\x80\x02}"));
  EXPECT_TRUE(looks_like_pickle("(dp0\n"));
  EXPECT_TRUE(looks_like_pickle("}q"));
  EXPECT_TRUE(looks_like_pickle("]q"));
  EXPECT_TRUE(looks_like_pickle("cos\nsystem\n(S'ls'\ntR."));
  EXPECT_FALSE(looks_like_pickle(""));
  EXPECT_FALSE(looks_like_pickle("{\"traceEvents\": []}"));
  EXPECT_FALSE(looks_like_pickle("[1]"));
  EXPECT_FALSE(looks_like_pickle("cats are nice\nand dogs\n"));
  EXPECT_FALSE(looks_like_pickle("c"));
  EXPECT_FALSE(looks_like_pickle("Thread,Time,Action,Pointer,Size,Stream\n"));
}

}  // namespace
}  // namespace ferry::replay
