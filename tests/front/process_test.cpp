// SPDX-License-Identifier: Apache-2.0
#include "front/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ferry {
namespace {

using ::testing::HasSubstr;
using Kind = DriverChoice::Kind;

// One test: the driver of a process is chosen once, so the steps depend on each other.
TEST(Process, LoadsOneDriverOnce) {
  EXPECT_EQ(process_driver(), nullptr);

  const auto failed = start_driver({.kind = Kind::path, .path = "/nonexistent/libcuda.so.1"});
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, Code::not_initialized);
  EXPECT_THAT(failed.error().message, HasSubstr("/nonexistent/libcuda.so.1"));
  EXPECT_EQ(process_driver(), nullptr);

  const auto first = start_driver({.kind = Kind::sim, .path = {}});
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_TRUE((*first)->is_stand_in());
  EXPECT_EQ(process_driver(), *first);

  const auto again = start_driver({.kind = Kind::sim, .path = {}});
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, *first);

  const auto other = start_driver({.kind = Kind::automatic, .path = {}});
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, Code::invalid_argument);
  EXPECT_THAT(other.error().message, HasSubstr((*first)->library_path()));
  EXPECT_EQ(process_driver(), *first);

  // A fork puts the driver out of use in the child, and leaves the parent alone.
  const pid_t child = fork();
  if (child == 0) _exit(is_forked_child() ? 42 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_FALSE(is_forked_child());
}

}  // namespace
}  // namespace ferry
