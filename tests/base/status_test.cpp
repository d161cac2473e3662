// SPDX-License-Identifier: Apache-2.0
#include "base/status.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

namespace ferry {
namespace {

TEST(Status, DefaultIsSuccess) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_TRUE(static_cast<bool>(status));
  EXPECT_EQ(status.code(), Code::ok);
  EXPECT_EQ(status.describe(), "ok");
}

TEST(Status, DescribeNamesMeaningOriginAndCall) {
  EXPECT_EQ(Status(Code::out_of_memory, Domain::cuda, 2, "cuMemCreate").describe(),
            "out of memory (cuMemCreate: CUDA error 2, CUDA_ERROR_OUT_OF_MEMORY)");
  EXPECT_EQ(Status(Code::internal, Domain::cuda, 12345, "cuMemCreate").describe(),
            "internal error (cuMemCreate: CUDA error 12345)")
      << "a number that nobody has named";
  EXPECT_EQ(Status(Code::io_error, Domain::system, 5, "pwrite").describe(),
            "input/output error (pwrite: errno 5)");
  EXPECT_EQ(Status(Code::not_owned, "DevicePool::free").describe(),
            "pointer not owned by this pool (DevicePool::free)");
  EXPECT_EQ(Status(Code::not_ready, "").describe(), "not ready");
}

TEST(Status, EveryCodeHasAPhraseOfItsOwn) {
  std::set<std::string> phrases;
  const auto count = static_cast<std::size_t>(Code::internal) + 1;
  for (std::size_t i = 0; i < count; ++i) phrases.insert(code_phrase(static_cast<Code>(i)));
  EXPECT_EQ(phrases.size(), count);
  EXPECT_FALSE(phrases.contains("unknown"));
}

TEST(Failure, SaysWhatTheStatusSaysAndThenItsOwnWords) {
  const Failure plain = Status(Code::not_ready, "");
  EXPECT_EQ(plain.describe(), "not ready");
  const Failure told(Status(Code::invalid_argument, ""), "requests[3] writes to NULL");
  EXPECT_EQ(told.code(), Code::invalid_argument);
  EXPECT_EQ(told.describe(), "invalid argument: requests[3] writes to NULL");
  const Result<int, Failure> from_status = Status(Code::no_device, "here");
  EXPECT_EQ(from_status.error().describe(), "no such device (here)");
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good = 7;
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, 7);
  const Result<int> bad = Status(Code::no_device, "here");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code(), Code::no_device);
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 3);
}

Status stops_early(const Status& first, bool& reached) {
  FERRY_TRY(first);
  reached = true;
  return Status(Code::not_ready, "end");
}

TEST(Try, ReturnsFailuresAndPassesSuccess) {
  bool reached = false;
  EXPECT_EQ(stops_early(Status(Code::internal, "x"), reached).code(), Code::internal);
  EXPECT_FALSE(reached);
  EXPECT_EQ(stops_early(Status(), reached).code(), Code::not_ready);
  EXPECT_TRUE(reached);
}

}  // namespace
}  // namespace ferry
