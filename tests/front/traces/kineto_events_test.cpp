// SPDX-License-Identifier: Apache-2.0
#include "front/traces/kineto_events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "front/traces/kineto_samples.hpp"

namespace ferry::replay {
namespace {

using ::testing::HasSubstr;
using testing::json_of;
using testing::kineto_trace;
using testing::MemoryEvent;

std::vector<KinetoMemoryEvent> read(const std::string& json) {
  ByteSource source = ByteSource::over(json);
  auto events = read_kineto_events(source);
  if (!events) {
    ADD_FAILURE() << events.error().describe();
    return {};
  }
  return std::move(*events);
}

TraceError error_of(const std::string& json) {
  ByteSource source = ByteSource::over(json);
  auto events = read_kineto_events(source);
  if (events) return {"read without error", std::nullopt};
  EXPECT_LE(events.error().offset.value_or(0), json.size());
  return events.error();
}

const std::string kGood = json_of({1.5, 4096, 512, 1024, 2048, 1, 0});

TEST(KinetoEvents, ReadsEveryField) {
  const auto events =
      read(kineto_trace(kGood, json_of({1700000000000000.25, 1, -1024, 0, 4096, 6, 3})));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].time_us, 1.5);
  EXPECT_EQ(events[0].address, 4096U);
  EXPECT_FALSE(events[0].is_free);
  EXPECT_EQ(events[0].bytes, 512_B);
  EXPECT_EQ(events[0].device_type, 1);
  EXPECT_EQ(events[0].device, 0);
  EXPECT_EQ(events[0].total_allocated, 1024_B);
  EXPECT_EQ(events[0].total_reserved, 2048_B);
  EXPECT_EQ(events[1].time_us, 1700000000000000.25);
  EXPECT_TRUE(events[1].is_free);
  EXPECT_EQ(events[1].bytes, 1024_B);
  EXPECT_EQ(events[1].device_type, 6);
  EXPECT_EQ(events[1].device, 3);
}

TEST(KinetoEvents, TheOrderOfKeysDoesNotMatter) {
  const auto events = read(kineto_trace(
      R"({"args":{"Device Id":2,"Device Type":1,"Bytes":-8,"Addr":64},"ts":7,"name":"[memory]"})"));
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].time_us, 7);
  EXPECT_EQ(events[0].address, 64U);
  EXPECT_TRUE(events[0].is_free);
  EXPECT_EQ(events[0].device, 2);
}

TEST(KinetoEvents, OtherEventsAreSkipped) {
  const auto events = read(kineto_trace(
      R"({"name":"aten::add","ts":"never","args":{"Addr":"x","Bytes":[1,{"Addr":2}]}})", kGood,
      R"({"name":["[memory]"],"args":5})", R"(["[memory]",{"name":"[memory]"}])", "17",
      R"({"args":{"name":"[memory]"},"name":"other"})"));
  EXPECT_EQ(events.size(), 1U);
}

TEST(KinetoEvents, OnlyTheListOfEventsCounts) {
  const std::string elsewhere = R"({"metadata":[)" + kGood + R"(],"deep":{"traceEvents":[)" +
                                kGood + R"(]},"traceEvents":{"x":[)" + kGood + R"(]}})";
  EXPECT_TRUE(read(elsewhere).empty());
  EXPECT_EQ(read("[" + kGood + "]").size(), 1U) << "a bare list of events";
  EXPECT_EQ(read("\xef\xbb\xbf{\"traceEvents\":[" + kGood + "]}").size(), 1U);
}

TEST(KinetoEvents, AddressesMayBeText) {
  const auto hex = read(kineto_trace(
      R"({"name":"[memory]","ts":1,"args":{"Addr":"0xff","Bytes":1,"Device Type":1,"Device Id":0}})"));
  EXPECT_EQ(hex[0].address, 255U);
  EXPECT_EQ(hex[0].total_allocated, std::nullopt);
  EXPECT_EQ(hex[0].total_reserved, std::nullopt);
}

TEST(KinetoEvents, NestedArgumentsAreNotTheEventsOwn) {
  const auto events = read(kineto_trace(
      R"({"name":"[memory]","ts":1,"extra":{"Bytes":9},"args":{"more":{"Bytes":7,"Addr":3},)"
      R"("Addr":5,"Bytes":1,"Device Type":1,"Device Id":0,"list":[{"Addr":8}]}})"));
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].address, 5U);
  EXPECT_EQ(events[0].bytes, 1_B);
}

TEST(KinetoEvents, NaNAndInfinityAreAccepted) {
  const auto events = read(kineto_trace(
      R"({"name":"other","args":{"occupancy":NaN,"rate":-Infinity,"more":[Infinity]}})",
      R"({"name":"[memory]","ts":1,"args":{"Addr":5,"Bytes":1,"Device Type":1,"Device Id":0,)"
      R"("Total Allocated":NaN,"Total Reserved":-1}})"));
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].total_allocated, std::nullopt);
  EXPECT_EQ(events[0].total_reserved, std::nullopt);
  EXPECT_THAT(error_of(kineto_trace(R"({"name":"[memory]","ts":NaN,"args":{}})")).message,
              HasSubstr("'ts' is no number"));
}

TEST(KinetoEvents, EventsOfNoBytesAreLeftOut) {
  EXPECT_TRUE(read(kineto_trace(json_of({1, 2, 0, 0, 0, 1, 0}))).empty());
}

TEST(KinetoEvents, WrongFieldsAreNamed) {
  const auto wrong = [](const std::string& ts, const std::string& args) {
    const TraceError error = error_of(
        kineto_trace(kGood, R"({"name":"[memory]","ts":)" + ts + R"(,"args":{)" + args + "}}"));
    EXPECT_TRUE(error.offset);
    return error.message;
  };
  const std::string rest = R"("Device Type":1,"Device Id":0)";
  EXPECT_EQ(wrong("1", R"("Bytes":1,)" + rest),
            "is no valid Kineto trace: memory event 2: 'Addr' is missing");
  EXPECT_THAT(wrong("1", R"("Addr":1,)" + rest), HasSubstr("'Bytes' is missing"));
  EXPECT_THAT(wrong("1", R"("Addr":1,"Bytes":1,"Device Id":0)"), HasSubstr("'Device Type' is"));
  EXPECT_THAT(wrong("1", R"("Addr":1,"Bytes":1,"Device Type":1)"), HasSubstr("'Device Id' is"));
  EXPECT_THAT(wrong("1", R"("Addr":1,"Bytes":1.5,)" + rest),
              HasSubstr("'Bytes' is no whole number"));
  EXPECT_THAT(wrong("1", R"("Addr":1,"Bytes":NaN,)" + rest),
              HasSubstr("'Bytes' is no whole number"));
  EXPECT_THAT(wrong("1", R"("Addr":null,"Bytes":1,)" + rest),
              HasSubstr("'Addr' is no whole number"));
  EXPECT_THAT(wrong("1", R"("Addr":"0xzz","Bytes":1,)" + rest), HasSubstr("'Addr' is no whole"));
  EXPECT_THAT(wrong("1", R"("Addr":[1],"Bytes":1,)" + rest), HasSubstr("'Addr' is no whole"));
  EXPECT_THAT(wrong("1", R"("Addr":1,"Bytes":-9223372036854775808,)" + rest),
              HasSubstr("'Bytes' is larger than"));
  EXPECT_THAT(wrong("1", R"("Addr":1,"Bytes":18446744073709551616,)" + rest),
              HasSubstr("'Bytes' is no whole number"));
  EXPECT_THAT(wrong("1", R"("Addr":1,"Bytes":1,"Device Type":1,"Device Id":99999)"),
              HasSubstr("'Device Id' is larger than 32767"));
  EXPECT_THAT(wrong("1", R"("Addr":1,"Bytes":1,"Total Allocated":"x",)" + rest),
              HasSubstr("'Total Allocated' is no whole number"));
  EXPECT_THAT(wrong("null", R"("Addr":1,"Bytes":1,)" + rest), HasSubstr("'ts' is no number"));
  EXPECT_THAT(wrong("1e300", R"("Addr":1,"Bytes":1,)" + rest),
              HasSubstr("'ts' is beyond any clock"));
  EXPECT_THAT(error_of(kineto_trace(R"({"name":"[memory]","args":{}})")).message,
              HasSubstr("memory event 1: 'ts' is missing"));
}

TEST(KinetoEvents, BrokenJsonIsExplained) {
  TraceError error = error_of(R"({"traceEvents": [1, 2 3]})");
  EXPECT_THAT(error.message, HasSubstr("is no valid JSON near"));
  EXPECT_EQ(error.offset, 22U);
  EXPECT_THAT(error_of("{} {}").message, HasSubstr("more than one JSON value"));
  EXPECT_THAT(error_of("[tru]").message, HasSubstr("is no valid JSON"));
  EXPECT_THAT(error_of("[\"\x01\"]").message, HasSubstr("is no valid JSON"));
  EXPECT_THAT(error_of("[\"\xff\"]").message, HasSubstr("is no valid JSON"));
  EXPECT_THAT(error_of("[1e999]").message, HasSubstr("is no valid JSON"));
  EXPECT_THAT(error_of("[NaN Infinity]").message, HasSubstr("is no valid JSON"));
  EXPECT_THAT(error_of(std::string(1'000'000, '[')).message, HasSubstr("more than 1000 deep"));
}

TEST(KinetoEvents, EveryTruncationIsAnError) {
  const std::string json = kineto_trace(kGood, kGood);
  for (std::size_t kept = 0; kept < json.size(); ++kept) {
    const TraceError error = error_of(json.substr(0, kept));
    EXPECT_NE(error.message, "read without error") << kept;
    EXPECT_TRUE(error.offset);
  }
}

}  // namespace
}  // namespace ferry::replay
