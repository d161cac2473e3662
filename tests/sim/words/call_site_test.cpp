// SPDX-License-Identifier: Apache-2.0
#include "sim/words/call_site.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace ferry::sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const void* at(std::uintptr_t address) {
  return reinterpret_cast<const void*>(address);
}

constexpr OwnModule kModule{1000, 2000, true};

TEST(CallSite, IsTheFirstReturnAddressOutsideTheModule) {
  const Frame main{nullptr, at(10)};
  const Frame program{&main, at(20)};
  const Frame exported{&program, at(5000)};
  const Frame helper{&exported, at(1999)};
  const Frame gate{&helper, at(1000)};
  EXPECT_EQ(first_outside(&gate, kModule), at(5000));
  EXPECT_EQ(first_outside(&exported, kModule), at(5000));
}

TEST(CallSite, IsUnknownWhereTheFramesEndInside) {
  const Frame gate{nullptr, at(1500)};
  EXPECT_EQ(first_outside(&gate, kModule), nullptr);
}

TEST(CallSite, GivesUpOnFramesThatGoRound) {
  Frame gate{nullptr, at(1500)};
  gate.caller = &gate;
  EXPECT_EQ(first_outside(&gate, kModule), nullptr);
}

TEST(CallSite, IsUnknownWhereTheStandInIsPartOfTheProgram) {
  EXPECT_EQ(find_call_site(__builtin_frame_address(0)), nullptr);
}

TEST(CallSite, InALibraryIsNamedWithFunctionAndFile) {
  // A function of another module that no sanitizer has one of its own for; a call returns to one
  // byte after it began, at least.
  const auto* const function =
      static_cast<const char*>(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
  ASSERT_NE(function, nullptr);
  EXPECT_THAT(describe_call_site(function + 5),
              AllOf(StartsWith("gnu_get_libc_version+0x4 in /"), HasSubstr("libc.so"),
                    HasSubstr(" (addr2line -Cfe /"), Not(HasSubstr(" 0x0)"))));
}

TEST(CallSite, InTheProgramIsNamedByItsFile) {
  const auto* const here = static_cast<const char*>(__builtin_return_address(0));
  EXPECT_THAT(describe_call_site(here), HasSubstr("sim_parts_test (addr2line -Cfe /"));
}

TEST(CallSite, NowhereHasNoName) {
  EXPECT_EQ(describe_call_site(nullptr), "");
  EXPECT_EQ(describe_call_site(at(0x11)), "0x10");
}

}  // namespace
}  // namespace ferry::sim
