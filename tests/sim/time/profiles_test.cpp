// SPDX-License-Identifier: Apache-2.0
// The profiles that are shipped: each reads, each figure says where it is from, and the library
// holds what the files hold.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "sim/time/profile_reader.hpp"
#include "sim/time/shipped_profiles.hpp"

namespace ferry::sim {
namespace {

TEST(ShippedProfiles, EachReadsAndNamesItself) {
  EXPECT_GE(shipped_profiles().size(), 4U);
  for (const ShippedProfile& shipped : shipped_profiles()) {
    const Result<Profile, std::string> profile = read_profile(shipped.json);
    ASSERT_TRUE(profile.ok()) << shipped.name << ": " << profile.error();
    EXPECT_EQ(profile->name, shipped.name);
  }
}

TEST(ShippedProfiles, EveryFigureSaysWhereItIsFrom) {
  for (const ShippedProfile& shipped : shipped_profiles()) {
    const Result<Profile, std::string> profile = read_profile(shipped.json);
    ASSERT_TRUE(profile.ok()) << profile.error();
    for (const FigureRow& row : kFigures) {
      EXPECT_GE((profile.value().*row.member).source.size(), 10U)
          << shipped.name << ": " << row.section << "." << row.key;
    }
  }
}

TEST(ShippedProfiles, BothWaysAtOnceIsNeverFasterThanOneWay) {
  for (const ShippedProfile& shipped : shipped_profiles()) {
    const Result<Profile, std::string> profile = read_profile(shipped.json);
    ASSERT_TRUE(profile.ok()) << profile.error();
    EXPECT_LE(profile->duplex_to_device.value, profile->to_device.value) << shipped.name;
    EXPECT_LE(profile->duplex_to_host.value, profile->to_host.value) << shipped.name;
    EXPECT_LE(profile->pageable_to_device.value, profile->to_device.value) << shipped.name;
    EXPECT_LE(profile->pageable_to_host.value, profile->to_host.value) << shipped.name;
  }
}

TEST(ShippedProfiles, TheLibraryHoldsTheFiles) {
  std::set<std::string> in_folder;
  for (const auto& entry : std::filesystem::directory_iterator(FERRY_PROFILE_FOLDER))
    in_folder.insert(entry.path().stem().string());
  std::set<std::string> in_library;
  for (const ShippedProfile& shipped : shipped_profiles()) {
    in_library.emplace(shipped.name);
    std::ifstream file(std::filesystem::path(FERRY_PROFILE_FOLDER) /
                       (std::string(shipped.name) + ".json"));
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_EQ(text.str(), shipped.json) << shipped.name;
  }
  EXPECT_EQ(in_library, in_folder);
}

}  // namespace
}  // namespace ferry::sim
