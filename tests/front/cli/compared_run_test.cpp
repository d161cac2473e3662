// SPDX-License-Identifier: Apache-2.0
#include "front/cli/compared_run.hpp"

#include <gmock/gmock.h>

namespace ferry::cli {
namespace {

using replay::ComparedRun;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr const char* kFigures =
    R"({"torch": "2.15.0", "used_cuda": true, "peak_allocated_bytes": 100, "peak_reserved_bytes": 200,
        "driver_calls": {"cuMemAlloc": 3}, "driver_ms": 1.5, "samples": [[1, 10, 20], [2, 30, 40]]})";

TEST(AllocatorSettings, ChooseTheAllocatorAndKeepTheRest) {
  EXPECT_EQ(allocator_settings("native", ""), "backend:native");
  EXPECT_EQ(allocator_settings("expandable", ""), "expandable_segments:True");
  EXPECT_EQ(allocator_settings("cudaMallocAsync", ""), "backend:cudaMallocAsync");
  const char* const users =
      "backend:ferry,ferry_limit:2GiB,expandable_segments:True,max_split_size_mb:64,";
  EXPECT_EQ(allocator_settings("native", users), "backend:native,max_split_size_mb:64");
  EXPECT_EQ(allocator_settings("ferry", users),
            "backend:ferry,ferry_limit:2GiB,max_split_size_mb:64");
}

TEST(ReadFigures, TakesWhatTheChildWrote) {
  const auto figures = read_figures(kFigures);
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->torch, "2.15.0");
  EXPECT_EQ(figures->peak_allocated, Bytes{100});
  EXPECT_EQ(figures->peak_reserved, Bytes{200});
  EXPECT_THAT(figures->driver_calls, ElementsAre(Pair("cuMemAlloc", 3U)));
  EXPECT_EQ(figures->driver_ms, 1.5);
  ASSERT_EQ(figures->samples.size(), 2U);
  EXPECT_EQ(figures->samples[1].operators, 2U);
  EXPECT_EQ(figures->samples[1].tensors, Bytes{30});
  EXPECT_EQ(figures->samples[1].in_use, Bytes{40});
}

TEST(ReadFigures, NothingWhereThereAreNone) {
  for (const char* const text :
       {"", "{", "[]", R"({"used_cuda": false})", R"({"used_cuda": true})",
        R"({"torch": 1, "used_cuda": true, "peak_allocated_bytes": "much"})"}) {
    EXPECT_FALSE(read_figures(text)) << text;
  }
}

class RunComparedTest : public ::testing::Test {
 protected:
  ComparedRun run(const std::string& script, const std::string& allocator = "native") {
    RunRequest request;
    request.program.program = {"sh", "-c", script};
    request.allocator = allocator;
    ComparedRun compared;
    EXPECT_EQ(run_compared(request, compared), std::nullopt);
    return compared;
  }
};

TEST_F(RunComparedTest, AChildSaysItsFiguresAndIsToldItsAllocator) {
  const ComparedRun done =
      run(std::string("test $PYTORCH_CUDA_ALLOC_CONF = backend:ferry && echo '") + kFigures +
              "' > $FERRY_SIM_FIGURES",
          "ferry");
  EXPECT_EQ(done.allocator, "ferry");
  EXPECT_EQ(done.exit, 0);
  ASSERT_TRUE(done.figures);
  EXPECT_EQ(done.figures->peak_reserved, Bytes{200});
  EXPECT_EQ(done.error, "");
}

TEST_F(RunComparedTest, AFailureIsNamedByItsExceptionOrItsLastLine) {
  const ComparedRun python = run(
      "printf 'Traceback:\\n  x\\ntorch.OutOfMemoryError: no memory\\nmore of it\\n' >&2; exit 3");
  EXPECT_EQ(python.exit, 3);
  EXPECT_EQ(python.error, "torch.OutOfMemoryError: no memory");
  EXPECT_FALSE(python.figures);
  EXPECT_EQ(run("printf 'one\\ntwo: three\\n\\n' >&2; exit 1").error, "two: three");
  EXPECT_EQ(run("exit 1").error, "");
}

TEST_F(RunComparedTest, ASignalCountsAsShellsCountIt) {
  EXPECT_EQ(run("kill -9 $$").exit, 137);
}

}  // namespace
}  // namespace ferry::cli
