// SPDX-License-Identifier: Apache-2.0
// `ferry compare` with a shell script in the place of Python; real torch: tests/sim/family.
#include "front/cli/compare_command.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "front/cli/run_program.hpp"

namespace ferry::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Outcome;

Outcome compare(std::vector<std::string> arguments, const std::string& script,
                const std::vector<std::string>& environment = {}) {
  std::vector<std::string> line{FERRY_PROGRAM, "compare"};
  line.insert(line.end(), arguments.begin(), arguments.end());
  line.insert(line.end(), {"--", "sh", "-c", script});
  return testing::run_program(std::move(line), environment);
}

// Needs 30 MiB under Ferry and 50 MiB under others; `$1`: its exit code where that is not there.
constexpr const char* kProgram = R"(
case $PYTORCH_CUDA_ALLOC_CONF in backend:ferry*) need=30;; *) need=50;; esac
capacity=$(printf '%s' "$FERRY_SIM" | tr ';' '\n' | sed -n 's/^capacity=//p')
[ "$capacity" -ge $((need << 20)) ] || { echo 'torch.OutOfMemoryError: too small' >&2; exit 1; }
echo "{\"torch\":\"2.15.0\",\"used_cuda\":true,\"peak_allocated_bytes\":$((20 << 20)),
  \"peak_reserved_bytes\":$((need << 20)),\"driver_calls\":{\"cuMemAlloc\":5,\"cuMemFree\":2},
  \"driver_ms\":0.25,\"samples\":[[1,10,20],[2,30,40]]}" > "$FERRY_SIM_FIGURES"
)";

TEST(Compare, TellsEachAllocatorsFiguresAsJson) {
  const Outcome done = compare({"--json", "--capacity", "1GiB"}, kProgram);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const auto json = nlohmann::json::parse(done.out);
  ASSERT_EQ(json["runs"].size(), 4U);
  EXPECT_EQ(json["runs"][0]["allocator"], "native");
  EXPECT_EQ(json["runs"][3]["allocator"], "ferry");
  EXPECT_EQ(json["runs"][3]["exit"], 0);
  EXPECT_EQ(json["runs"][3]["peak_reserved_bytes"], 30 << 20);
  EXPECT_EQ(json["runs"][0]["peak_reserved_bytes"], 50 << 20);
  EXPECT_EQ(json["runs"][0]["driver_calls"]["cuMemAlloc"], 5);
  EXPECT_EQ(json["runs"][0]["driver_ms"], 0.25);
  EXPECT_TRUE(json["runs"][0]["min_capacity_bytes"].is_null());
}

TEST(Compare, FindsTheSmallestCapacityOfEach) {
  const Outcome done = compare(
      {"--json", "--capacity", "1GiB", "--min-capacity", "--allocators", "native,ferry"}, kProgram);
  const auto json = nlohmann::json::parse(done.out);
  EXPECT_EQ(json["runs"][0]["min_capacity_bytes"], 50 << 20);
  EXPECT_EQ(json["runs"][1]["min_capacity_bytes"], 30 << 20);
  EXPECT_THAT(done.err, AllOf(HasSubstr("ferry with 30 MiB: completes"),
                              HasSubstr("ferry with 28 MiB: does not complete")));
}

TEST(Compare, ARunThatFailsIsARowWithItsReason) {
  const Outcome done = compare({"--capacity", "40MiB", "--allocators", "native,ferry"}, kProgram);
  EXPECT_EQ(done.exit_code, 0) << "it completes under one";
  EXPECT_THAT(done.out, AllOf(HasSubstr("native: torch.OutOfMemoryError: too small"),
                              HasSubstr("with 40 MiB a device"), Not(HasSubstr("ferry: "))));
  EXPECT_EQ(compare({"--capacity", "4MiB"}, kProgram).exit_code, 1);
}

TEST(Compare, SetsMemoryAsideAndMakesThePage) {
  const std::string page = ::testing::TempDir() + "ferry_compare.html";
  const Outcome done = compare({"--html", page, "--reserve", "2GiB", "--allocators", "native"},
                               "case $FERRY_SIM in *taken=2147483648*) ;; *) exit 9;; esac");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("2 GiB of it set aside"), HasSubstr("used no CUDA")));
  EXPECT_TRUE(std::filesystem::remove(page));
}

TEST(Compare, WrongLinesSayWhatIsWrong) {
  EXPECT_THAT(compare({"--capacity", "much"}, "true").err, HasSubstr("\"much\" is no size"));
  EXPECT_EQ(compare({"--capacity", "much"}, "true").exit_code, 2);
  EXPECT_EQ(compare({"--allocators", "malloc"}, "true").exit_code, 2);
  EXPECT_EQ(compare({"--gpu", "nothing"}, "true").exit_code, 2);
  EXPECT_EQ(compare({"--html", "/nonexistent/page.html"}, "true").exit_code, 1);
  const Outcome none = testing::run_program({FERRY_PROGRAM, "compare"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("after --, a program"));
  EXPECT_EQ(testing::run_program({FERRY_PROGRAM, "compare", "--", "/nonexistent"}).exit_code, 127);
}

}  // namespace
}  // namespace ferry::cli
