// SPDX-License-Identifier: Apache-2.0
// Small programs with one fault each, and their correct twins: the checker names every fault under
// every schedule, and nothing in the correct ones.
#include <mutex>
#include <thread>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

constexpr std::size_t kBytes = 64 * 1024;

class HazardsTest : public SimTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    restart(GetParam());
    device = allocate(kBytes);
    host = static_cast<unsigned char*>(allocate_host(kBytes));
    std::fill_n(host, kBytes, 1);
    a = stream();
    b = stream();
    done = event();
  }
  void TearDown() override {
    ferry_sim_drain();
    SimTest::TearDown();
  }

  // b waits for everything in a.
  void b_waits_for_a() {
    FERRY_OK(cuEventRecord(done, a));
    FERRY_OK(cuStreamWaitEvent(b, done, 0));
  }

  CUdeviceptr device = 0;
  unsigned char* host = nullptr;
  CUstream a = nullptr;
  CUstream b = nullptr;
  CUevent done = nullptr;
};

TEST_P(HazardsTest, AMissingEventBetweenWriteAndRead) {
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, kBytes, a));
  FERRY_OK(cuMemcpyDtoDAsync_v2(allocate(kBytes), device, kBytes, b));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_P(HazardsTest, AnEventOrders) {
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, kBytes, a));
  b_waits_for_a();
  FERRY_OK(cuMemcpyDtoDAsync_v2(allocate(kBytes), device, kBytes, b));
}

TEST_P(HazardsTest, AnEventRecordedTooEarlyDoesNot) {
  FERRY_OK(cuEventRecord(done, a));
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, kBytes, a));
  FERRY_OK(cuStreamWaitEvent(b, done, 0));
  FERRY_OK(cuMemsetD8Async(device, 2, kBytes, b));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_P(HazardsTest, AnEventNeverRecordedOrdersNothing) {
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, kBytes, a));
  FERRY_OK(cuStreamWaitEvent(b, done, 0));
  FERRY_OK(cuMemsetD8Async(device, 2, kBytes, b));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

// Under eager the event is done when the wait is queued; the order counts all the same.
TEST_P(HazardsTest, AWaitForAnEventThatIsDoneOrders) {
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, kBytes, a));
  FERRY_OK(cuEventRecord(done, a));
  ferry_sim_configure("schedule=eager");
  FERRY_OK(cuStreamWaitEvent(b, done, 0));
  FERRY_OK(cuMemsetD8Async(device, 2, kBytes, b));
}

TEST_P(HazardsTest, DisjointBytesNeedNoOrder) {
  FERRY_OK(cuMemsetD8Async(device, 1, kBytes / 2, a));
  FERRY_OK(cuMemsetD8Async(device + kBytes / 2, 2, kBytes / 2, b));
}

TEST_P(HazardsTest, ReadersNeedNoOrder) {
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, kBytes, a));
  FERRY_OK(cuStreamSynchronize(a));
  FERRY_OK(cuMemcpyDtoDAsync_v2(allocate(kBytes), device, kBytes, a));
  FERRY_OK(cuMemcpyDtoDAsync_v2(allocate(kBytes), device, kBytes, b));
}

TEST_P(HazardsTest, SynchronisingWithTheHostOrders) {
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, kBytes, a));
  FERRY_OK(cuStreamSynchronize(a));
  FERRY_OK(cuMemsetD8Async(device, 2, kBytes, b));
  FERRY_OK(cuEventRecord(done, b));
  FERRY_OK(cuEventSynchronize(done));
  FERRY_OK(cuMemsetD8Async(device, 3, kBytes, a));
  FERRY_OK(cuCtxSynchronize());
  FERRY_OK(cuMemsetD8Async(device, 4, kBytes, b));
  while (cuStreamQuery(b) == CUDA_ERROR_NOT_READY) {
  }
  FERRY_OK(cuMemsetD8Async(device, 5, kBytes, a));
}

TEST_P(HazardsTest, SynchronisingAnotherStreamDoesNot) {
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, kBytes, a));
  FERRY_OK(cuStreamSynchronize(b));
  FERRY_OK(cuMemsetD8Async(device, 2, kBytes, b));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_P(HazardsTest, FreeingInFlight) {
  const CUdeviceptr other = allocate(kBytes);
  FERRY_OK(cuMemsetD8Async(other, 2, kBytes, a));
  FERRY_OK(cuMemFree_v2(other));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_P(HazardsTest, FreeingAfterTheWork) {
  const CUdeviceptr other = allocate(kBytes);
  FERRY_OK(cuMemsetD8Async(other, 2, kBytes, a));
  FERRY_OK(cuStreamSynchronize(a));
  FERRY_OK(cuMemFree_v2(other));
}

TEST_P(HazardsTest, FreeingHostMemoryInFlight) {
  void* const other = allocate_host(kBytes);
  FERRY_OK(cuMemcpyDtoHAsync_v2(other, device, kBytes, a));
  FERRY_OK(cuMemFreeHost(other));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_P(HazardsTest, UnregisteringInFlight) {
  std::vector<unsigned char> own(kBytes, 1);
  FERRY_OK(cuMemHostRegister_v2(own.data(), own.size(), 0));
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, own.data(), kBytes, a));
  FERRY_OK(cuMemHostUnregister(own.data()));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_P(HazardsTest, AReusedResultBuffer) {
  FERRY_OK(cuMemcpyDtoHAsync_v2(host, device, kBytes, a));
  FERRY_OK(cuMemcpyDtoHAsync_v2(host, allocate(kBytes), kBytes, b));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_P(HazardsTest, TheDefaultStreamAndANonBlockingOne) {
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, kBytes, a));
  FERRY_OK(cuMemsetD8Async(device, 2, kBytes, nullptr));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_P(HazardsTest, TheDefaultStreamAndABlockingOne) {
  CUstream blocking = nullptr;
  FERRY_OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, kBytes, blocking));
  FERRY_OK(cuMemsetD8Async(device, 2, kBytes, nullptr));
  FERRY_OK(cuMemsetD8Async(device, 3, kBytes, blocking));
  FERRY_OK(cuStreamDestroy_v2(blocking));
  FERRY_OK(cuMemsetD8Async(device, 4, kBytes, CU_STREAM_LEGACY));
}

TEST_P(HazardsTest, ADestroyedStreamsWorkStillCollides) {
  CUstream other = nullptr;
  FERRY_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  FERRY_OK(cuMemsetD8Async(device, 2, kBytes, other));
  FERRY_OK(cuStreamDestroy_v2(other));
  const CUstream next = stream();
  FERRY_OK(cuMemsetD8Async(device, 3, kBytes, next));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
  FERRY_OK(cuStreamDestroy_v2(next));
}

TEST_P(HazardsTest, SynchronisingTheContextCoversDestroyedStreams) {
  CUstream other = nullptr;
  FERRY_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  FERRY_OK(cuMemsetD8Async(device, 2, kBytes, other));
  FERRY_OK(cuStreamDestroy_v2(other));
  FERRY_OK(cuCtxSynchronize());
  FERRY_OK(cuMemsetD8Async(device, 3, kBytes, a));
}

TEST_P(HazardsTest, AnEventOfTheContextCoversAllStreams) {
  FERRY_OK(cuMemsetD8Async(device, 2, kBytes, a));
  FERRY_OK(cuCtxRecordEvent(context, done));
  FERRY_OK(cuStreamWaitEvent(b, done, 0));
  FERRY_OK(cuMemsetD8Async(device, 3, kBytes, b));
}

// The host's own writes are not seen; what they change is.
TEST_P(HazardsTest, ASourceWrittenAgainInFlight) {
  ferry_sim_configure("schedule=lazy");
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, kBytes, a));
  host[kBytes / 2] = 9;
  FERRY_OK(cuStreamSynchronize(a));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_P(HazardsTest, APageableSourceWrittenAgainInFlight) {
  ferry_sim_configure("schedule=lazy");
  std::vector<unsigned char> own(kBytes, 1);
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, own.data(), kBytes, a));
  own[0] = 9;
  FERRY_OK(cuStreamSynchronize(a));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_P(HazardsTest, ASourceWrittenAgainAfterTheCopy) {
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, kBytes, a));
  FERRY_OK(cuStreamSynchronize(a));
  host[kBytes / 2] = 9;
}

TEST_P(HazardsTest, ASourceThatQueuedWorkFillsMayChange) {
  FERRY_OK(cuMemsetD8Async(device, 7, kBytes, a));
  FERRY_OK(cuMemcpyDtoHAsync_v2(host, device, kBytes, a));
  FERRY_OK(cuMemcpyHtoDAsync_v2(allocate(kBytes), host, kBytes, a));
  FERRY_OK(cuStreamSynchronize(a));
}

TEST_P(HazardsTest, ASourceThatAHostFunctionFillsMayChange) {
  FERRY_OK(cuLaunchHostFunc(
      a, [](void* pointer) { static_cast<unsigned char*>(pointer)[5] = 42; }, host));
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, kBytes, a));
  FERRY_OK(cuStreamSynchronize(a));
}

TEST_P(HazardsTest, HandOverBetweenThreadsByAMutexNeedsTheWaitOnlyOnce) {
  std::thread([&] {
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD8Async(device, 2, kBytes, a), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(a), CUDA_SUCCESS);
  }).join();
  FERRY_OK(cuMemsetD8Async(device, 3, kBytes, b));
}

TEST_P(HazardsTest, HandOverBetweenThreadsWithoutAWait) {
  std::thread([&] {
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD8Async(device, 2, kBytes, a), CUDA_SUCCESS);
  }).join();
  FERRY_OK(cuMemsetD8Async(device, 3, kBytes, b));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_P(HazardsTest, ARefusedAccessIsNone) {
  FERRY_OK(cuMemsetD8Async(device, 2, kBytes, a));
  EXPECT_EQ(cuMemsetD32Async(device + 1, 3, kBytes / 4, b), CUDA_ERROR_INVALID_VALUE);
}

// One piece of physical memory at two addresses.
class AliasesTest : public HazardsTest {
 protected:
  void SetUp() override {
    HazardsTest::SetUp();
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
    FERRY_OK(cuMemCreate(&handle, 2 * kMiB, &prop, 0));
    for (CUdeviceptr& alias : aliases) {
      FERRY_OK(cuMemAddressReserve(&alias, 2 * kMiB, 0, 0, 0));
      FERRY_OK(cuMemMap(alias, 2 * kMiB, 0, handle, 0));
      CUmemAccessDesc access{};
      access.location = prop.location;
      access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
      FERRY_OK(cuMemSetAccess(alias, 2 * kMiB, &access, 1));
    }
  }
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr aliases[2] = {};
};

TEST_P(AliasesTest, Collide) {
  FERRY_OK(cuMemsetD8Async(aliases[0] + 100, 2, 100, a));
  FERRY_OK(cuMemcpyDtoDAsync_v2(device, aliases[1] + 150, 100, b));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_P(AliasesTest, UnmappingWhatIsInUse) {
  FERRY_OK(cuMemcpyDtoDAsync_v2(device, aliases[0], 100, a));
  FERRY_OK(cuMemUnmap(aliases[0], 2 * kMiB));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
  ferry_sim_reset(GetParam());  // under lazy, the copy would meet an address that leads nowhere
}

TEST_P(AliasesTest, UnmappingTheOtherAlias) {
  FERRY_OK(cuMemcpyDtoDAsync_v2(device, aliases[0], 100, a));
  FERRY_OK(cuMemUnmap(aliases[1], 2 * kMiB));
}

constexpr const char* kSchedules[] = {"schedule=eager", "schedule=lazy", "schedule=random;seed=1",
                                      "schedule=random;seed=2", "schedule=random;seed=3"};
INSTANTIATE_TEST_SUITE_P(Schedules, HazardsTest, testing::ValuesIn(kSchedules));
INSTANTIATE_TEST_SUITE_P(Schedules, AliasesTest, testing::ValuesIn(kSchedules));

// --- What becomes of a hazard
// ----------------------------------------------------------------------

class HazardOutcomeTest : public SimTest {
 protected:
  // Two writes that nothing orders.
  static void make_hazard() {
    const CUdeviceptr device = allocate(kBytes);
    EXPECT_EQ(cuMemsetD8Async(device, 1, kBytes, stream()), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD8Async(device, 2, kBytes, stream()), CUDA_SUCCESS);
  }
};

TEST_F(HazardOutcomeTest, TheReportNamesBothOperationsAndTheRemedy) {
  testing::internal::CaptureStderr();
  make_hazard();
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_EQ(report.find("ferry-sim: hazard: write after write without order: cuMemsetD8Async"), 0U)
      << report;
  EXPECT_NE(report.find("65536 bytes"), std::string::npos) << report;
  EXPECT_NE(report.find("record an event on stream"), std::string::npos) << report;
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
  EXPECT_EQ(ferry_sim_take_hazards(), 0U);
}

TEST_F(HazardOutcomeTest, OffFindsNothing) {
  restart("hazards=off");
  make_hazard();
  EXPECT_EQ(ferry_sim_take_hazards(), 0U);
}

TEST_F(HazardOutcomeTest, ManyArePrintedOnlyAtFirst) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 50; ++i) make_hazard();
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_EQ(ferry_sim_take_hazards(), 50U);
  std::size_t printed = 0;
  for (std::size_t at = 0; (at = report.find("hazard:", at)) != std::string::npos; ++at) ++printed;
  EXPECT_LE(printed, 20U);
}

using HazardOutcomeDeathTest = HazardOutcomeTest;

TEST_F(HazardOutcomeDeathTest, AProcessThatNoticedNothingEndsWith66) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        make_hazard();
        std::exit(0);
      },
      testing::ExitedWithCode(66), "ferry-sim: hazard: ");
}

TEST_F(HazardOutcomeDeathTest, AnotherStatusStays) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        make_hazard();
        std::exit(3);
      },
      testing::ExitedWithCode(3), "ferry-sim: hazard: ");
}

TEST_F(HazardOutcomeDeathTest, TakenHazardsDoNotCount) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        make_hazard();
        ferry_sim_take_hazards();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(HazardOutcomeDeathTest, AbortEndsAtTheFirst) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ferry_sim_configure("hazards=abort");
        make_hazard();
        std::exit(0);
      },
      testing::KilledBySignal(SIGABRT), "ferry-sim: hazard: ");
}

}  // namespace
}  // namespace ferry::sim
