// SPDX-License-Identifier: Apache-2.0
// Copies and fills: each kind, under every order of the queued work.
#include <array>
#include <numeric>

#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime_test {
namespace {

using Words = std::vector<std::uint32_t>;

class RuntimeCopyTest : public ScheduledRuntimeTest {
 protected:
  static constexpr std::size_t kCount = 16;
  static constexpr std::size_t kBytes = kCount * sizeof(std::uint32_t);
  static Words numbers() {
    Words words(kCount);
    std::iota(words.begin(), words.end(), 1U);
    return words;
  }
};

TEST_P(RuntimeCopyTest, ThereAndBack) {
  const Words source = numbers();
  Words back(kCount, 0);
  void* const first = allocate(kBytes);
  void* const second = allocate(kBytes);
  FERRY_RT_OK(cudaMemcpy(first, source.data(), kBytes, cudaMemcpyHostToDevice));
  FERRY_RT_OK(cudaMemcpy(second, first, kBytes, cudaMemcpyDeviceToDevice));
  FERRY_RT_OK(cudaMemcpy(back.data(), second, kBytes, cudaMemcpyDeviceToHost));
  EXPECT_EQ(back, source);
}

TEST_P(RuntimeCopyTest, TheDefaultKindFollowsTheAddresses) {
  const Words source = numbers();
  Words back(kCount, 0);
  Words third(kCount, 0);
  void* const first = allocate(kBytes);
  void* const second = allocate(kBytes);
  FERRY_RT_OK(cudaMemcpy(first, source.data(), kBytes, cudaMemcpyDefault));
  FERRY_RT_OK(cudaMemcpy(second, first, kBytes, cudaMemcpyDefault));
  FERRY_RT_OK(cudaMemcpy(back.data(), second, kBytes, cudaMemcpyDefault));
  FERRY_RT_OK(cudaMemcpy(third.data(), back.data(), kBytes, cudaMemcpyDefault));
  EXPECT_EQ(back, source);
  EXPECT_EQ(third, source);
}

TEST_P(RuntimeCopyTest, BothSidesOnTheHost) {
  const Words source = numbers();
  Words back(kCount, 0);
  FERRY_RT_OK(cudaMemcpy(back.data(), source.data(), kBytes, cudaMemcpyHostToHost));
  EXPECT_EQ(back, source);
}

TEST_P(RuntimeCopyTest, APageableSourceMayChangeOnceItsCopyHasReturned) {
  Words source = numbers();
  void* const memory = allocate(kBytes);
  FERRY_RT_OK(cudaMemcpy(memory, source.data(), kBytes, cudaMemcpyHostToDevice));
  source[0] = 99;
  EXPECT_EQ(word(memory), 1U);
}

TEST_P(RuntimeCopyTest, PinnedCopiesRunInTheOrderOfTheirStream) {
  auto* const source = allocate_host<std::uint32_t>(1);
  auto* const back = allocate_host<std::uint32_t>(1);
  const cudaStream_t own = stream();
  void* const memory = allocate(4);
  *source = 41;
  *back = 0;
  FERRY_RT_OK(cudaMemsetAsync(memory, 0, 4, own));
  FERRY_RT_OK(cudaMemcpyAsync(memory, source, 4, cudaMemcpyHostToDevice, own));
  FERRY_RT_OK(cudaMemcpyAsync(back, memory, 4, cudaMemcpyDeviceToHost, own));
  if (lazy()) {
    EXPECT_EQ(cudaStreamQuery(own), cudaErrorNotReady);
  }
  FERRY_RT_OK(cudaStreamSynchronize(own));
  EXPECT_EQ(*back, 41U);
}

TEST_P(RuntimeCopyTest, StreamsThatNothingOrdersAreAHazard) {
  void* const memory = allocate(4);
  FERRY_RT_OK(cudaMemsetAsync(memory, 1, 4, stream()));
  FERRY_RT_OK(cudaMemsetAsync(memory, 2, 4, stream()));
  FERRY_RT_OK(cudaDeviceSynchronize());
  EXPECT_EQ(take_hazards(), 1U);
}

TEST_P(RuntimeCopyTest, AKindThatIsNone) {
  Words words = numbers();
  void* const memory = allocate(kBytes);
  const auto none = static_cast<cudaMemcpyKind>(5);
  EXPECT_EQ(cudaMemcpy(memory, words.data(), kBytes, none), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpyAsync(memory, words.data(), kBytes, none, nullptr),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy2D(memory, 8, words.data(), 8, 4, 2, none), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy2DAsync(memory, 8, words.data(), 8, 4, 2, none, nullptr),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidMemcpyDirection);
}

// The reference leaves open what happens; the stand-in finds it out.
TEST_P(RuntimeCopyTest, AKindThatTheSidesContradictIsRefused) {
  Words words = numbers();
  Words other(kCount, 0);
  void* const memory = allocate(kBytes);
  FERRY_RT_OK(cudaMemset(memory, 0, kBytes));
  const auto refused = [&](void* to, const void* from, cudaMemcpyKind kind) {
    EXPECT_EQ(cudaMemcpy(to, from, kBytes, kind), cudaErrorInvalidValue) << kind;
    EXPECT_EQ(cudaMemcpyAsync(to, from, kBytes, kind, nullptr), cudaErrorInvalidValue) << kind;
    EXPECT_EQ(cudaMemcpy2D(to, 8, from, 8, 8, 2, kind), cudaErrorInvalidValue) << kind;
  };
  refused(other.data(), words.data(), cudaMemcpyHostToDevice);
  refused(other.data(), words.data(), cudaMemcpyDeviceToHost);
  refused(other.data(), words.data(), cudaMemcpyDeviceToDevice);
  refused(memory, words.data(), cudaMemcpyDeviceToDevice);
  EXPECT_EQ(other, Words(kCount, 0));
  EXPECT_EQ(word(memory), 0U);
}

TEST_P(RuntimeCopyTest, NoBytes) {
  Words words = numbers();
  void* const memory = allocate(kBytes);
  FERRY_RT_OK(cudaMemset(memory, 0, kBytes));
  FERRY_RT_OK(cudaMemcpy(memory, words.data(), 0, cudaMemcpyHostToDevice));
  FERRY_RT_OK(cudaMemcpyAsync(memory, words.data(), 0, cudaMemcpyDefault, nullptr));
  FERRY_RT_OK(cudaMemset(memory, 1, 0));
  FERRY_RT_OK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
  FERRY_RT_OK(cudaMemcpyAsync(nullptr, nullptr, 0, cudaMemcpyDeviceToDevice, nullptr));
  FERRY_RT_OK(cudaMemsetAsync(nullptr, 1, 0, nullptr));
  EXPECT_EQ(word(memory), 0U);
}

TEST_P(RuntimeCopyTest, BeyondTheEnd) {
  Words words(1 << 20);
  void* const memory = allocate(kBytes);
  EXPECT_NE(cudaMemcpy(memory, words.data(), words.size() * 4, cudaMemcpyHostToDevice),
            cudaSuccess);
  EXPECT_NE(cudaGetLastError(), cudaSuccess);
}

TEST_P(RuntimeCopyTest, RowsOfDifferentPitches) {
  const Words source = numbers();  // four rows of four
  void* const memory = allocate(kBytes);
  FERRY_RT_OK(cudaMemset(memory, 0, kBytes));
  FERRY_RT_OK(cudaMemcpy2D(memory, 8, source.data(), 16, 8, 4, cudaMemcpyHostToDevice));
  EXPECT_EQ(word(memory, 0), 1U);
  EXPECT_EQ(word(memory, 2), 5U);
  EXPECT_EQ(word(memory, 7), 14U);
  EXPECT_EQ(word(memory, 8), 0U);
  Words back(kCount, 0);
  FERRY_RT_OK(cudaMemcpy2DAsync(back.data(), 16, memory, 8, 8, 4, cudaMemcpyDeviceToHost, nullptr));
  FERRY_RT_OK(cudaDeviceSynchronize());
  EXPECT_EQ(back[4], 5U);
  EXPECT_EQ(back[6], 0U);
  Words again(kCount, 0);
  FERRY_RT_OK(cudaMemcpy2D(again.data(), 16, memory, 8, 8, 4, cudaMemcpyDefault));
  EXPECT_EQ(again, back);
}

TEST_P(RuntimeCopyTest, ARowIsNotWiderThanItsPitch) {
  Words words = numbers();
  void* const memory = allocate(kBytes);
  EXPECT_EQ(cudaMemcpy2D(memory, 4, words.data(), 8, 8, 2, cudaMemcpyHostToDevice),
            cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2DAsync(memory, 8, words.data(), 4, 8, 2, cudaMemcpyHostToDevice, nullptr),
            cudaErrorInvalidPitchValue);
}

TEST_P(RuntimeCopyTest, FillsTakeTheLowestByte) {
  void* const memory = allocate(kBytes);
  FERRY_RT_OK(cudaMemset(memory, 0x1AB, kBytes));
  EXPECT_EQ(word(memory, kCount - 1), 0xABABABABU);
  FERRY_RT_OK(cudaMemset2D(memory, 16, 0, 4, 2));
  EXPECT_EQ(word(memory, 0), 0U);
  EXPECT_EQ(word(memory, 1), 0xABABABABU);
  EXPECT_EQ(word(memory, 4), 0U);
  EXPECT_EQ(word(memory, 8), 0xABABABABU);
  const cudaStream_t own = stream();
  FERRY_RT_OK(cudaMemset2DAsync(memory, 16, 3, 4, 2, own));
  FERRY_RT_OK(cudaStreamSynchronize(own));
  EXPECT_EQ(word(memory, 4), 0x03030303U);
}

TEST_P(RuntimeCopyTest, BetweenDevices) {
  restart(std::string("devices=2;") + GetParam());
  void* const here = allocate(4);
  FERRY_RT_OK(cudaMemset(here, 7, 4));
  FERRY_RT_OK(cudaDeviceSynchronize());
  FERRY_RT_OK(cudaSetDevice(1));
  void* const there = allocate(4);
  FERRY_RT_OK(cudaMemset(there, 0, 4));
  FERRY_RT_OK(cudaMemcpyPeer(there, 1, here, 0, 4));
  EXPECT_EQ(word(there), 0x07070707U);
  FERRY_RT_OK(cudaMemset(there, 9, 4));
  FERRY_RT_OK(cudaDeviceSynchronize());
  const cudaStream_t own = stream();
  FERRY_RT_OK(cudaMemcpyPeerAsync(here, 0, there, 1, 4, own));
  FERRY_RT_OK(cudaStreamSynchronize(own));
  EXPECT_EQ(word(here), 0x09090909U);
  EXPECT_EQ(cudaMemcpyPeer(here, 2, there, 1, 4), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaMemcpyPeerAsync(here, 0, there, -1, 4, own), cudaErrorInvalidDevice);
}

FERRY_EVERY_SCHEDULE(RuntimeCopyTest);

}  // namespace
}  // namespace ferry::sim::runtime_test
