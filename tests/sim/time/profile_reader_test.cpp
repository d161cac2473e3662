// SPDX-License-Identifier: Apache-2.0
#include "sim/time/profile_reader.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "sim/time/round_profile.hpp"

namespace ferry::sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_time::round_profile;
using testing_time::to_json;

// The round profile with one text replaced by another.
std::string changed(const std::string& from, const std::string& to) {
  std::string json = to_json(round_profile());
  const std::size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return json.replace(at, from.size(), to);
}

std::string problem(const std::string& json) {
  const Result<Profile, std::string> profile = read_profile(json);
  EXPECT_FALSE(profile.ok()) << json;
  return profile.ok() ? "" : profile.error();
}

TEST(ProfileReader, ReadsEveryFigure) {
  const Profile wanted = round_profile();
  const Result<Profile, std::string> profile = read_profile(to_json(wanted));
  ASSERT_TRUE(profile.ok()) << profile.error();
  EXPECT_EQ(profile->name, "round");
  EXPECT_EQ(profile->device_name, "Round device");
  for (const FigureRow& row : kFigures) {
    EXPECT_EQ((profile.value().*row.member).value, (wanted.*row.member).value) << row.key;
    EXPECT_EQ((profile.value().*row.member).source, "made up") << row.key;
  }
}

TEST(ProfileReader, UnitsAreTurnedIntoOneEach) {
  const auto with = [](const char* unit) {
    return read_profile(changed(R"("value": 2000000, "unit": "ps")",
                                fmt::format(R"("value": 3, "unit": "{}")", unit)));
  };
  EXPECT_EQ(with("ps")->copy_latency.value, 3);
  EXPECT_EQ(with("ns")->copy_latency.value, 3'000);
  EXPECT_EQ(with("us")->copy_latency.value, 3'000'000);
  const auto rate = read_profile(
      changed(R"("value": 8000000000, "unit": "B/s")", R"("value": 8, "unit": "MB/s")"));
  EXPECT_EQ(rate->to_host.value, 8'000'000);
}

TEST(ProfileReader, MissingAndUnknownKeysAreNamed) {
  EXPECT_THAT(problem(changed("\"copy_latency\"", "\"copy_lateness\"")),
              HasSubstr("\"link.copy_latency\" is missing"));
  EXPECT_THAT(problem(changed(R"("link": {)", R"("link": {"colour": 1, )")),
              HasSubstr("\"link.colour\" is not known"));
  EXPECT_THAT(problem(changed(R"("description")", R"("describe")")),
              HasSubstr("\"description\" is missing"));
  EXPECT_THAT(problem(changed(R"({"name": "round")", R"({"extra": 1, "name": "round")")),
              HasSubstr("\"extra\" is not known"));
  EXPECT_THAT(problem(changed(R"("value": 2000000, "unit")", R"("unit")")),
              HasSubstr("\"link.copy_latency.value\" is missing"));
}

TEST(ProfileReader, EveryFigureNeedsASourceAndACertainty) {
  EXPECT_THAT(
      problem(changed(R"("unit": "ps", "source": "made up")", R"("unit": "ps", "source": "")")),
      HasSubstr("\"device.launch_latency.source\" is not a text"));
  EXPECT_THAT(problem(changed(R"("unit": "ps", "source": "made up", "sure": "inferred")",
                              R"("unit": "ps", "source": "made up", "sure": "certain")")),
              HasSubstr("\"device.launch_latency.sure\" is neither seen, read nor inferred"));
}

TEST(ProfileReader, ValuesAreWholeNumbersInAUnitOfTheirKind) {
  const std::string latency = R"("value": 2000000, "unit": "ps")";
  EXPECT_THAT(problem(changed(latency, R"("value": 1.5, "unit": "us")")),
              AllOf(HasSubstr("link.copy_latency.value"), HasSubstr("finer unit")));
  EXPECT_THAT(problem(changed(latency, R"("value": -1, "unit": "us")")),
              HasSubstr("link.copy_latency.value"));
  EXPECT_THAT(problem(changed(latency, R"("value": "2", "unit": "us")")),
              HasSubstr("link.copy_latency.value"));
  EXPECT_THAT(problem(changed(latency, R"("value": 2, "unit": "GB/s")")),
              AllOf(HasSubstr("link.copy_latency.unit"), HasSubstr("\"ns\"")));
  EXPECT_THAT(problem(changed(latency, R"("value": 18446744073709551615, "unit": "us")")),
              HasSubstr("too large"));
  EXPECT_THAT(problem(changed(latency, R"("value": 3600000001, "unit": "us")")),
              HasSubstr("longer than an hour"));
  EXPECT_THAT(problem(changed(R"("value": 8000000000, "unit": "B/s")",
                              R"("value": 999999, "unit": "B/s")")),
              HasSubstr("slower than 1 MB/s"));
}

TEST(ProfileReader, WhatIsNoProfileIsSaidSo) {
  EXPECT_THAT(problem("nonsense"), HasSubstr("not JSON"));
  EXPECT_THAT(problem("[]"), HasSubstr("not an object"));
  EXPECT_THAT(problem(R"({"name": 1})"), HasSubstr("missing"));
  EXPECT_THAT(problem(changed(R"("copy_engines": {"value": 2)", R"("copy_engines": {"value": 0)")),
              HasSubstr("device.copy_engines"));
  EXPECT_THAT(problem(changed(R"("link": {)", R"("link": [], "other": {)")), HasSubstr("\""));
}

TEST(FindProfile, KnowsTheShippedOnesAndListsThem) {
  ASSERT_TRUE(find_profile("h200-pcie5").ok());
  EXPECT_EQ(find_profile("h200-pcie5")->name, "h200-pcie5");
  const Result<Profile, std::string> none = find_profile("h300");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error(), AllOf(HasSubstr("'h300'"), HasSubstr("a100-pcie4"),
                                  HasSubstr("h100-pcie5-2socket"), HasSubstr("gh200-c2c")));
}

TEST(FindProfile, ReadsAFileByItsPath) {
  const std::string path = testing::TempDir() + fmt::format("profile-{}.json", getpid());
  std::ofstream(path) << to_json(round_profile());
  const Result<Profile, std::string> profile = find_profile(path);
  ASSERT_TRUE(profile.ok()) << profile.error();
  EXPECT_EQ(profile->name, "round");
  std::ofstream(path) << "{}";
  const Result<Profile, std::string> empty = find_profile(path);
  ASSERT_FALSE(empty.ok());
  EXPECT_THAT(empty.error(), AllOf(HasSubstr(path), HasSubstr("\"name\" is missing")));
  std::remove(path.c_str());
  const Result<Profile, std::string> gone = find_profile(path);
  ASSERT_FALSE(gone.ok());
  EXPECT_THAT(gone.error(), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace ferry::sim
