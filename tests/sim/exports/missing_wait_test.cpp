// SPDX-License-Identifier: Apache-2.0
// The reason for the schedules: a two-stream program that forgets one event wait gives wrong bytes
// in every round under `lazy`, and the correct program never does, whatever the schedule. The
// hazard checker names the missing wait under every schedule, also where the bytes were right.
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

constexpr int kRounds = 8;
constexpr std::size_t kBytes = 64 * 1024;

class MissingWaitTest : public SimTest {
 protected:
  // Each round one stream uploads and the other downloads. The number of rounds with wrong bytes.
  int wrong_rounds(const std::string& settings, bool waits) {
    restart(settings);
    const CUstream upload = stream();
    const CUstream download = stream();
    const CUevent uploaded = event();
    const CUevent downloaded = event();
    const CUdeviceptr device = allocate(kBytes);
    auto* const from = static_cast<unsigned char*>(allocate_host(kBytes));
    auto* const to = static_cast<unsigned char*>(allocate_host(kBytes));
    int wrong = 0;
    for (int round = 1; round <= kRounds; ++round) {
      std::fill_n(from, kBytes, static_cast<unsigned char>(round));
      EXPECT_EQ(cuMemcpyHtoDAsync_v2(device, from, kBytes, upload), CUDA_SUCCESS);
      EXPECT_EQ(cuEventRecord(uploaded, upload), CUDA_SUCCESS);
      if (waits) {
        EXPECT_EQ(cuStreamWaitEvent(download, uploaded, 0), CUDA_SUCCESS);
      }
      EXPECT_EQ(cuMemcpyDtoHAsync_v2(to, device, kBytes, download), CUDA_SUCCESS);
      EXPECT_EQ(cuEventRecord(downloaded, download), CUDA_SUCCESS);
      EXPECT_EQ(cuEventSynchronize(downloaded), CUDA_SUCCESS);
      for (std::size_t i = 0; i < kBytes; ++i) {
        if (to[i] == round) continue;
        ++wrong;
        break;
      }
      EXPECT_EQ(cuEventSynchronize(uploaded), CUDA_SUCCESS);
    }
    EXPECT_EQ(ferry_sim_take_hazards() > 0, !waits);
    return wrong;
  }
};

TEST_F(MissingWaitTest, LazyShowsItEveryTime) {
  EXPECT_EQ(wrong_rounds("schedule=lazy", false), kRounds);
}

TEST_F(MissingWaitTest, EagerHidesIt) {
  EXPECT_EQ(wrong_rounds("schedule=eager", false), 0);
}

TEST_F(MissingWaitTest, SomeSeedShowsIt) {
  int wrong = 0;
  for (int seed = 0; seed < 8; ++seed)
    wrong += wrong_rounds("schedule=random;seed=" + std::to_string(seed), false);
  EXPECT_GT(wrong, 0);
}

TEST_F(MissingWaitTest, TheCorrectProgramIsRightUnderEverySchedule) {
  EXPECT_EQ(wrong_rounds("schedule=eager", true), 0);
  EXPECT_EQ(wrong_rounds("schedule=lazy", true), 0);
  for (int seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(wrong_rounds("schedule=random;seed=" + std::to_string(seed), true), 0)
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace ferry::sim
