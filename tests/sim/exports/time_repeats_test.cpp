// SPDX-License-Identifier: Apache-2.0
// One long program on the modelled machine: the same picoseconds in every run, under every schedule
// and on every machine and compiler. The program draws its steps from its own fixed sequence.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "sim/sim_fixture.hpp"
#include "sim/time/round_profile.hpp"

namespace ferry::sim {
namespace {

// As cheap as a sequence can be that no library changes.
class Steps {
 public:
  std::uint64_t below(std::uint64_t limit) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return (state_ >> 33) % limit;
  }

 private:
  std::uint64_t state_ = 42;
};

class TimeRepeatsTest : public SimTest {
 protected:
  static constexpr std::uint64_t kBlock = 256 * 1024;
  static constexpr std::size_t kStreams = 4;

  // Each stream has memory of its own; events and the host put some of their work in order.
  std::uint64_t run(const std::string& settings) {
    restart("data=none;" + settings);
    Steps steps;
    std::array<CUstream, kStreams> streams{};
    std::array<CUevent, kStreams> events{};
    std::array<CUdeviceptr, kStreams> device{};
    std::array<char*, kStreams> host{};
    for (std::size_t i = 0; i < kStreams; ++i) {
      streams[i] = stream();
      events[i] = event();
      device[i] = allocate(2 * kBlock);
      host[i] = static_cast<char*>(allocate_host(2 * kBlock));
    }
    for (int step = 0; step < 2000; ++step) {
      const auto at = static_cast<std::size_t>(steps.below(kStreams));
      const std::uint64_t bytes = 1 + steps.below(kBlock);
      switch (steps.below(7)) {
        case 0:
          EXPECT_EQ(cuMemcpyHtoDAsync_v2(device[at], host[at], bytes, streams[at]), CUDA_SUCCESS);
          break;
        case 1:
          EXPECT_EQ(cuMemcpyDtoHAsync_v2(host[at] + kBlock, device[at], bytes, streams[at]),
                    CUDA_SUCCESS);
          break;
        case 2:
          EXPECT_EQ(cuMemcpyDtoDAsync_v2(device[at] + kBlock, device[at], bytes, streams[at]),
                    CUDA_SUCCESS);
          break;
        case 3:
          EXPECT_EQ(cuMemsetD8Async(device[at], 1, bytes, streams[at]), CUDA_SUCCESS);
          break;
        case 4:
          EXPECT_EQ(cuEventRecord(events[at], streams[at]), CUDA_SUCCESS);
          EXPECT_EQ(cuStreamWaitEvent(streams[steps.below(kStreams)], events[at], 0), CUDA_SUCCESS);
          break;
        case 5:
          for (int poll = 0; poll < 3; ++poll) {
            if (cuEventQuery(events[at]) == CUDA_SUCCESS) ferry_sim_host_work(bytes % 1000);
          }
          break;
        default:
          if (steps.below(8) == 0) {
            EXPECT_EQ(cuStreamSynchronize(streams[at]), CUDA_SUCCESS);
          }
      }
    }
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    return ferry_sim_now_ps();
  }

  // Streams that take turns with the memory of a small device.
  std::uint64_t run_pools(const std::string& settings) {
    restart("data=none;capacity=256MiB;" + settings);
    Steps steps;
    std::array<CUstream, kStreams> streams{};
    for (CUstream& made : streams) made = stream();
    for (int step = 0; step < 500; ++step) {
      const CUstream on = streams[steps.below(kStreams)];
      const std::uint64_t bytes = (1 + steps.below(100)) * kMiB;
      CUdeviceptr address = 0;
      if (cuMemAllocAsync(&address, bytes, on) != CUDA_SUCCESS) {
        // Its blocks are too small, and come back only when their frees were waited for.
        EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        EXPECT_EQ(cuMemAllocAsync(&address, bytes, on), CUDA_SUCCESS);
      }
      EXPECT_EQ(cuMemsetD8Async(address, 1, bytes, on), CUDA_SUCCESS);
      EXPECT_EQ(cuMemFreeAsync(address, on), CUDA_SUCCESS);
      if (steps.below(4) == 0) ferry_sim_host_work(steps.below(100'000));
      if (steps.below(16) == 0) {
        EXPECT_EQ(cuStreamSynchronize(on), CUDA_SUCCESS);
      }
    }
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    return ferry_sim_now_ps();
  }
};

TEST_F(TimeRepeatsTest, WhichMemoryAPoolGivesOutDoesNotDependOnTheSchedule) {
  const std::uint64_t eager = run_pools("profile=h200-pcie5;schedule=eager");
  EXPECT_EQ(run_pools("profile=h200-pcie5;schedule=lazy"), eager);
  for (int seed = 1; seed <= 8; ++seed) {
    EXPECT_EQ(run_pools(fmt::format("profile=h200-pcie5;schedule=random;seed={}", seed)), eager)
        << seed;
  }
}

TEST_F(TimeRepeatsTest, TheSameToThePicosecondUnderEverySchedule) {
  const std::uint64_t eager = run("profile=h200-pcie5;schedule=eager");
  EXPECT_EQ(run("profile=h200-pcie5;schedule=eager"), eager);
  EXPECT_EQ(run("profile=h200-pcie5;schedule=lazy"), eager);
  for (int seed = 1; seed <= 8; ++seed)
    EXPECT_EQ(run(fmt::format("profile=h200-pcie5;schedule=random;seed={}", seed)), eager) << seed;
}

TEST_F(TimeRepeatsTest, ASlowerMachineTakesLonger) {
  EXPECT_GT(run("profile=a100-pcie4"), run("profile=h200-pcie5"));
}

// Changes with the model, never with the machine or the compiler. The profile is the tests' own, so
// that better figures in a shipped one leave this alone.
TEST_F(TimeRepeatsTest, TheSameOnEveryMachine) {
  const std::string path = testing::TempDir() + fmt::format("repeats-{}.json", getpid());
  std::ofstream(path) << testing_time::to_json(testing_time::round_profile());
  EXPECT_EQ(run("profile=" + path), 9'052'071'795U);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace ferry::sim
