// SPDX-License-Identifier: Apache-2.0
// Slow and stuck engines as a program sees them, under a profile of round figures and the same
// under every schedule.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "sim/sim_fixture.hpp"
#include "sim/time/round_profile.hpp"

namespace ferry::sim {
namespace {

using testing_time::kMicro;

class ExportsEngineFaultsTest : public SimTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    path = testing::TempDir() + fmt::format("slow-{}.json", getpid());
    std::ofstream(path) << testing_time::to_json(testing_time::round_profile());
    restart(fmt::format("profile={};schedule={}", path, GetParam()));
    device = allocate(100'000);
    host = allocate_host(100'000);
    other_device = allocate(80'000);
    other_host = allocate_host(80'000);
    a_stream = stream();
    other_stream = stream();
  }
  void TearDown() override {
    SimTest::TearDown();
    std::remove(path.c_str());
  }

  static Picoseconds now() { return static_cast<Picoseconds>(ferry_sim_now_ps()); }
  // From the call that queues a copy of 100 kB to its end.
  Picoseconds copy_time() {
    const Picoseconds before = now();
    EXPECT_EQ(cuMemcpyHtoDAsync_v2(device, host, 100'000, a_stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(a_stream), CUDA_SUCCESS);
    return now() - before;
  }
  // An engine fault in a window that begins in the future; both moments in microseconds from now.
  // The clock is moved to a whole one first.
  void choose(const char* fault, int from, int until) {
    ferry_sim_host_work(static_cast<uint64_t>((kMicro - now() % kMicro) % kMicro / 1000));
    const Picoseconds start = now() / kMicro;
    ASSERT_EQ(ferry_sim_configure(
                  fmt::format("{}@{}us-{}us", fault, start + from, start + until).c_str()),
              0);
  }

  std::string path;
  CUdeviceptr device = 0;
  void* host = nullptr;
  CUstream a_stream = nullptr;
  CUdeviceptr other_device = 0;
  void* other_host = nullptr;
  CUstream other_stream = nullptr;
};

TEST_P(ExportsEngineFaultsTest, ASlowEngineIsSlowInItsWindowOnly) {
  EXPECT_EQ(copy_time(), 13 * kMicro);
  choose("slow=to_device:4", 0, 1000);
  EXPECT_EQ(copy_time(), 49 * kMicro) << "1 us of the call, 4 times 2 us and 10 us";
  ferry_sim_host_work(1'000'000);
  EXPECT_EQ(copy_time(), 13 * kMicro);
}

TEST_P(ExportsEngineFaultsTest, AStuckEngineFinishesNothing) {
  choose("stuck=0/to_device", 5, 500);
  const Picoseconds before = now();
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, 100'000, a_stream));
  ferry_sim_host_work(400'000);
  EXPECT_EQ(cuStreamQuery(a_stream), CUDA_ERROR_NOT_READY) << "long after it should have ended";
  FERRY_OK(cuMemcpyDtoHAsync_v2(other_host, other_device, 80'000, other_stream));
  FERRY_OK(cuStreamSynchronize(other_stream));
  EXPECT_LT(now() - before, 500 * kMicro) << "the other direction goes on";
  FERRY_OK(cuStreamSynchronize(a_stream));
  EXPECT_EQ(now() - before, 508 * kMicro) << "20 kB went before, 80 kB after";
}

TEST_P(ExportsEngineFaultsTest, WithoutAProfileThereAreNoEngines) {
  ASSERT_EQ(ferry_sim_reset(""), 0);
  EXPECT_EQ(ferry_sim_configure("slow=to_device:4@0us-1us"), -1);
  EXPECT_EQ(ferry_sim_configure(fmt::format("profile={};stuck=1/peer@0us-1us", path).c_str()), -1)
      << "there is no second device";
}

INSTANTIATE_TEST_SUITE_P(Schedules, ExportsEngineFaultsTest,
                         testing::Values("eager", "lazy", "random;seed=1", "random;seed=2"));

}  // namespace
}  // namespace ferry::sim
