// SPDX-License-Identifier: Apache-2.0
#include "transfer/copy_engine.hpp"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "driver/capturing.hpp"
#include "transfer/copy_engine_fixture.hpp"

namespace ferry {
namespace {

class CopyEngineTest : public testing_support::CopyTest {};

TEST_P(CopyEngineTest, PinnedMemoryGoesThereAndBack) {
  unsigned char* const from = pinned();
  unsigned char* const to = pinned();
  for (std::uint64_t i = 0; i < kBytes; ++i) from[i] = static_cast<unsigned char>(i * 7);
  const Ticket up = copy({{device_, address_of(from), Bytes{kBytes}}});
  const Ticket* const after[] = {&up};
  const Ticket down = copy({{address_of(to), device_, Bytes{kBytes}}}, {{}, after});
  ASSERT_TRUE(down.wait());
  EXPECT_EQ(std::memcmp(from, to, kBytes), 0);
  EXPECT_TRUE(up.is_complete().value());
  const CopyEngineStats stats = engine_->stats();
  EXPECT_EQ(stats.copies, 2U);
  EXPECT_EQ(stats.staged_bytes, 0_B);
}

TEST_P(CopyEngineTest, PageableMemoryMayBeReusedWhenSubmitReturns) {
  std::vector<unsigned char> source(kBytes, 3);
  const Ticket up = copy({{device_, address_of(source.data()), Bytes{kBytes}}});
  std::fill(source.begin(), source.end(), static_cast<unsigned char>(9));
  EXPECT_EQ(fetch(up), std::vector<unsigned char>(kBytes, 3));
  EXPECT_EQ(engine_->stats().staged_bytes, Bytes{2 * kBytes});
}

TEST_P(CopyEngineTest, CopiesComeAfterTheStreamsTheyAreToldTo) {
  const StreamRef compute = sim_.stream();
  ASSERT_TRUE(sim_.test_side().fill_words(DeviceAddress{device_}, Bytes{4}, kBytes / 4, 0x05050505,
                                          compute));
  unsigned char* const to = pinned();
  const StreamRef streams[] = {compute};
  ASSERT_TRUE(copy({{address_of(to), device_, Bytes{kBytes}}}, {streams, {}}).wait());
  EXPECT_EQ(to[0], 5);
  EXPECT_EQ(to[kBytes - 1], 5);
}

TEST_P(CopyEngineTest, APageableDestinationComesAfterThemToo) {
  const StreamRef compute = sim_.stream();
  ASSERT_TRUE(sim_.test_side().fill_words(DeviceAddress{device_}, Bytes{4}, kBytes / 4, 0x06060606,
                                          compute));
  std::vector<unsigned char> to(kBytes);
  const StreamRef streams[] = {compute};
  copy({{address_of(to.data()), device_, Bytes{kBytes}}}, {streams, {}});
  EXPECT_EQ(to, std::vector<unsigned char>(kBytes, 6)) << "it is there when submit returns";
}

TEST_P(CopyEngineTest, AStreamCanWaitForATicket) {
  unsigned char* const from = pinned();
  std::memset(from, 7, kBytes);
  const StreamRef compute = sim_.stream();
  const Ticket up = copy({{device_, address_of(from), Bytes{kBytes}}});
  ASSERT_TRUE(up.wait_on(compute));
  sim_.write(DeviceAddress{device_}, 0x01010101, compute);
  EXPECT_EQ(sim_.word_at(DeviceAddress{device_}, compute), 0x01010101U);
}

TEST_P(CopyEngineTest, ABlockFreedWhileItsCopyRunsIsNotHandedOut) {
  unsigned char* const from = pinned();
  std::memset(from, 8, kBytes);
  const Ticket up = copy({{device_, address_of(from), Bytes{kBytes}}});
  ASSERT_TRUE(pinned_->free(from));
  std::memset(pinned(), 1, kBytes);  // the next user of pinned memory, whatever block it got
  EXPECT_EQ(fetch(up), std::vector<unsigned char>(kBytes, 8));
}

TEST_P(CopyEngineTest, ABatchIsMergedAndSplit) {
  unsigned char* const from = pinned();
  for (std::uint64_t i = 0; i < kBytes; ++i) from[i] = static_cast<unsigned char>(i / 256);
  std::vector<CopyRequest> requests;
  for (std::uint64_t i = 0; i < kBytes / 256; ++i)
    requests.push_back({device_ + i * 256, address_of(from) + i * 256, 256_B});
  std::mt19937 random(1);
  std::shuffle(requests.begin(), requests.end(), random);
  const Ticket up = copy(requests);
  EXPECT_EQ(engine_->stats().copies, 1U);
  EXPECT_EQ(engine_->stats().merged, requests.size() - 1);
  const std::vector<unsigned char> there = fetch(up);
  EXPECT_EQ(std::memcmp(there.data(), from, kBytes), 0);
}

TEST_P(CopyEngineTest, OneBatchMayGoBothWays) {
  unsigned char* const from = pinned();
  unsigned char* const to = pinned();
  std::memset(from, 4, kBytes);
  ASSERT_TRUE(copy({{device_, address_of(from), Bytes{kBytes}}}).wait());
  ASSERT_TRUE(copy({{device_, address_of(from), Bytes{kBytes / 2}},
                    {address_of(to), device_ + kBytes / 2, Bytes{kBytes / 2}}})
                  .wait());
  EXPECT_EQ(to[0], 4);
}

TEST_P(CopyEngineTest, NothingToCopyIsComplete) {
  const Ticket ticket = copy({});
  EXPECT_TRUE(ticket.is_complete().value());
  EXPECT_TRUE(ticket.wait());
}

TEST_P(CopyEngineTest, AFailureLeavesNothingRunning) {
  unsigned char* const from = pinned();
  const std::vector<CopyRequest> requests = {{device_, address_of(from), Bytes{kBytes / 2}},
                                             {device_ + kBytes / 2, address_of(from), 512_B}};
  for (const char* function : {"cuMemcpyAsync", "cuEventRecord", "cuPointerGetAttributes"}) {
    sim_.fail_nth(function, 2, testing_support::kCudaUnknown);
    EXPECT_FALSE(engine_->submit(requests, {}).ok()) << function;
    std::memset(from, 1, kBytes);  // nobody reads it any more
  }
  EXPECT_TRUE(copy(requests).wait());
}

TEST_P(CopyEngineTest, AFailureLeavesNothingRunningWhereTheWaitFailsToo) {
  unsigned char* const from = pinned();
  const std::vector<CopyRequest> requests = {{device_, address_of(from), Bytes{kBytes / 2}},
                                             {device_ + kBytes / 2, address_of(from), 512_B}};
  std::memset(from, 2, kBytes);
  sim_.fail_nth("cuMemcpyAsync", 2, testing_support::kCudaUnknown);
  sim_.fail_nth("cuStreamSynchronize", 1, testing_support::kCudaUnknown);
  EXPECT_FALSE(engine_->submit(requests, {}).ok());
  std::memset(from, 1, kBytes);  // nobody reads it any more
  EXPECT_EQ(sim_.word_at(DeviceAddress{device_}, sim_.stream()), 0x02020202U);
}

TEST_P(CopyEngineTest, StagingThatFindsNoMemorySaysWhatItNeeds) {
  const std::vector<unsigned char> source(kBytes, 3);
  const CopyRequest request{device_, address_of(source.data()), Bytes{kBytes}};
  sim_.fail_nth("cuMemHostAlloc", 1, testing_support::kCudaOutOfMemory);
  const Result<Ticket, Failure> ticket = engine_->submit(std::span(&request, 1), {});
  EXPECT_EQ(ticket.error().code(), Code::out_of_memory);
  EXPECT_NE(ticket.error().describe().find("4 MiB (4194304 bytes) of pinned memory were asked for"),
            std::string::npos);
  EXPECT_TRUE(copy({request}).wait());
}

TEST_P(CopyEngineTest, NullAddressesAreRefused) {
  for (const CopyRequest& request :
       {CopyRequest{device_, 0, Bytes{kBytes}}, CopyRequest{0, device_, Bytes{kBytes}}}) {
    const Result<Ticket, Failure> ticket = engine_->submit(std::span(&request, 1), {});
    EXPECT_EQ(ticket.error().code(), Code::invalid_argument);
    EXPECT_NE(ticket.error().describe().find("requests[0], of 65536 bytes, has NULL as its"),
              std::string::npos);
  }
}

TEST_P(CopyEngineTest, ACopyThatLeavesTheMemoryOfTheDeviceIsRefusedAndTheDeviceLives) {
  const std::uint64_t host = address_of(pinned());
  const CopyRequest inside{device_, host, Bytes{kBytes}};
  for (const CopyRequest& beyond : {CopyRequest{device_ + 512, host, Bytes{kBytes}},
                                    CopyRequest{host, device_ + 512, Bytes{kBytes}}}) {
    const CopyRequest requests[] = {{device_, host, 512_B}, beyond};
    const Result<Ticket, Failure> ticket = engine_->submit(requests, {});
    ASSERT_FALSE(ticket.ok());
    EXPECT_EQ(ticket.error().code(), Code::invalid_argument);
    EXPECT_NE(ticket.error().describe().find("requests[1]"), std::string::npos);
    EXPECT_EQ(sim_.calls("cuMemcpyAsync"), 0U) << "nothing of the batch is submitted";
  }
  EXPECT_TRUE(copy({inside}).wait()) << "the context is as it was";
}

TEST_P(CopyEngineTest, CopiesThatDependOnTheirOrderAreRefusedBeforeAnyIsMade) {
  const std::uint64_t host = address_of(pinned());
  const std::vector<CopyRequest> batches[] = {
      {{device_, host, 512_B}, {host + 4096, device_ + 100, 64_B}},
      {{device_, device_ + 10, 4_KiB}},
      {{device_, device_, 4_KiB}},
  };
  for (const std::vector<CopyRequest>& batch : batches)
    EXPECT_EQ(engine_->submit(batch, {}).error().code(), Code::invalid_argument);
  EXPECT_EQ(sim_.calls("cuMemcpyAsync"), 0U);
}

// Memory of a pool consists of many mappings, which lie side by side or apart in one reservation.
TEST_P(CopyEngineTest, ACopyMayGoThroughMappingsThatTouchAndNotIntoAGap) {
  Device& device = sim_.test_side();
  const Bytes chunk = device.granularity();
  const DeviceAddress start = device.reserve(chunk * 4).value();
  std::vector<PhysicalHandle> handles;
  for (std::uint64_t i = 0; i < 2; ++i) {
    handles.push_back(device.create(chunk).value());
    ASSERT_TRUE(device.map(start + chunk * i, chunk, handles.back()));
  }
  ASSERT_TRUE(device.set_access(start, chunk * 2, 2));
  unsigned char* const from = pinned(3 * chunk.count);
  std::memset(from, 9, 3 * chunk.count);
  EXPECT_TRUE(copy({{start.value, address_of(from), chunk * 2}}).wait());
  EXPECT_EQ(sim_.word_at(start + chunk, sim_.stream()), 0x09090909U);
  const auto words_of = [&](const CopyRequest& request) {
    const Result<Ticket, Failure> ticket = engine_->submit(std::span(&request, 1), {});
    return ticket.ok() ? std::string() : ticket.error().describe();
  };
  EXPECT_NE(words_of({start.value, address_of(from), chunk * 3}).find("memory there ends"),
            std::string::npos);
  EXPECT_NE(words_of({(start + chunk * 3).value, address_of(from), 64_B}).find("no memory"),
            std::string::npos);
  EXPECT_NE(words_of({device_, (start + chunk * 3).value, 64_B}).find("no memory"),
            std::string::npos);
  EXPECT_TRUE(copy({{start.value, address_of(from), chunk}}).wait());
  ASSERT_TRUE(device.unmap(start, chunk * 2, 2));
  for (const PhysicalHandle handle : handles) ASSERT_TRUE(device.release(handle, chunk));
  ASSERT_TRUE(device.free_reservation(start, chunk * 4));
}

TEST_P(CopyEngineTest, ACapturingStreamIsNothingThatCopiesCanComeAfter) {
  const StreamRef compute = sim_.stream();
  const CopyRequest request{device_, address_of(pinned()), Bytes{kBytes}};
  const StreamRef streams[] = {sim_.stream(), compute};
  const Ticket earlier = copy({request});
  testing_support::Capturing capturing(sim_.pool_side().driver(), compute);
  EXPECT_EQ(engine_->submit(std::span(&request, 1), {streams, {}}).error().code(),
            Code::capture_active);
  EXPECT_EQ(earlier.wait_on(compute).code(), Code::capture_active);
  EXPECT_EQ(capturing.end(), 0U);
  EXPECT_TRUE(copy({request}, {streams, {}}).wait());
}

TEST_P(CopyEngineTest, CopiesGoOnBesideACaptureAndLeaveItAlone) {
  const StreamRef compute = sim_.stream();
  std::vector<unsigned char> back(kBytes);
  testing_support::Capturing capturing(sim_.pool_side().driver(), compute);
  unsigned char* const from = pinned();
  std::memset(from, 6, kBytes);
  {
    const Ticket up = copy({{device_, address_of(from), Bytes{kBytes}}});
    const Ticket* const after[] = {&up};
    const Ticket down = copy({{address_of(back.data()), device_, Bytes{kBytes}}}, {{}, after});
    while (!down.is_complete().value()) {
    }
    EXPECT_TRUE(down.wait());
  }
  EXPECT_EQ(back, std::vector<unsigned char>(kBytes, 6));
  EXPECT_TRUE(pinned_->free(from));
  EXPECT_TRUE(pinned_->trim(0_B).ok());
  engine_.reset();
  EXPECT_EQ(capturing.end(), 0U);
}

TEST_P(CopyEngineTest, GoesOnlyWhenItsCopiesHaveRun) {
  unsigned char* const from = pinned();
  std::memset(from, 8, kBytes);
  { const Ticket forgotten = copy({{device_, address_of(from), Bytes{kBytes}}}); }
  engine_.reset();
  std::memset(from, 1, kBytes);
  EXPECT_EQ(sim_.word_at(DeviceAddress{device_}, sim_.stream()), 0x08080808U);
}

TEST_P(CopyEngineTest, ManyThreadsManyCopies) {
  std::vector<std::thread> threads;
  for (std::uint64_t number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      const std::uint64_t part = kBytes / 4;
      const std::uint64_t there = device_ + number * part;
      std::vector<unsigned char> own(part);
      for (unsigned round = 0; round < 10; ++round) {
        unsigned char* const from = pinned(part);
        std::memset(from, static_cast<int>(number * 10 + round), part);
        const Ticket up = copy({{there, address_of(from), Bytes{part}}});
        EXPECT_TRUE(pinned_->free(from));
        const Ticket* const after[] = {&up};
        ASSERT_TRUE(copy({{address_of(own.data()), there, Bytes{part}}}, {{}, after}).wait());
        ASSERT_EQ(
            own, std::vector<unsigned char>(part, static_cast<unsigned char>(number * 10 + round)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Schedules, CopyEngineTest, testing::ValuesIn(testing_support::kSchedules),
                         testing_support::schedule_name);

}  // namespace
}  // namespace ferry
