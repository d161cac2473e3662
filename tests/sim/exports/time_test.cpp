// SPDX-License-Identifier: Apache-2.0
// Virtual time as a program sees it: what calls and operations cost under a profile of round
// figures, to the picosecond and the same under every schedule.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "sim/sim_fixture.hpp"
#include "sim/time/round_profile.hpp"

namespace ferry::sim {
namespace {

using testing_time::kMicro;
using testing_time::kNano;

constexpr const char* kSchedules[] = {"eager", "lazy", "random;seed=1", "random;seed=2"};

class ExportsTimeTest : public SimTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    path = testing::TempDir() + fmt::format("round-{}.json", getpid());
    start(testing_time::round_profile());
  }
  void TearDown() override {
    SimTest::TearDown();
    std::remove(path.c_str());
  }

  void start(const Profile& profile) {
    std::ofstream(path) << testing_time::to_json(profile);
    restart(fmt::format("profile={};schedule={}", path, GetParam()));
  }

  static Picoseconds now() { return static_cast<Picoseconds>(ferry_sim_now_ps()); }
  // How far the clock moves over `action`.
  template <typename Action>
  static Picoseconds cost_of(Action&& action) {
    const Picoseconds before = now();
    action();
    return now() - before;
  }
  // The modelled time from one event to another, back in picoseconds.
  static Picoseconds between(CUevent begin, CUevent end) {
    float milliseconds = -1;
    EXPECT_EQ(cuEventElapsedTime(&milliseconds, begin, end), CUDA_SUCCESS);
    return static_cast<Picoseconds>(milliseconds * 1e6F + 0.5F) * kNano;
  }

  std::string path;
};

TEST_P(ExportsTimeTest, OneCopyCostsItsCallItsLatencyAndItsBytes) {
  const CUdeviceptr device = allocate(100'000);
  void* const host = allocate_host(100'000);
  const CUstream a_stream = stream();
  EXPECT_EQ(cost_of([&] { FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, 100'000, a_stream)); }),
            kMicro)
      << "the caller does not wait";
  EXPECT_EQ(cost_of([&] { FERRY_OK(cuStreamSynchronize(a_stream)); }), 12 * kMicro)
      << "to the end of 2 us of latency and 10 us of bytes; the call's own 5 us pass meanwhile";
  EXPECT_EQ(cost_of([&] { FERRY_OK(cuMemcpyDtoH_v2(host, device, 80'000)); }), 13 * kMicro);
}

TEST_P(ExportsTimeTest, TwoCopiesInOneStreamFollowEachOther) {
  const CUdeviceptr device = allocate(100'000);
  void* const host = allocate_host(100'000);
  const CUstream a_stream = stream();
  EXPECT_EQ(cost_of([&] {
              FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, 100'000, a_stream));
              FERRY_OK(cuMemcpyDtoHAsync_v2(host, device, 80'000, a_stream));
              FERRY_OK(cuStreamSynchronize(a_stream));
            }),
            25 * kMicro);
}

TEST_P(ExportsTimeTest, BothDirectionsShareTheLink) {
  const CUdeviceptr device = allocate(300'000);
  char* const host = static_cast<char*>(allocate_host(300'000));
  const CUstream up = stream();
  const CUstream down = stream();
  // Up begins at 1 us, its bytes at 3; down begins at 2 us, its bytes at 4. Up alone moves 10 kB
  // until then and 40 kB at 5 GB/s until 12 us; down has moved 48 kB of 72 by then, and the rest
  // goes at 8 GB/s until 15 us.
  EXPECT_EQ(cost_of([&] {
              FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, 50'000, up));
              FERRY_OK(cuMemcpyDtoHAsync_v2(host + 100'000, device + 100'000, 72'000, down));
              FERRY_OK(cuStreamSynchronize(up));
            }),
            12 * kMicro);
  EXPECT_EQ(cost_of([&] { FERRY_OK(cuStreamSynchronize(down)); }), 5 * kMicro)
      << "3 us were left, and the call itself takes 5";
}

TEST_P(ExportsTimeTest, EventsTellTheTimeOfTheDevice) {
  const CUdeviceptr device = allocate(100'000);
  void* const host = allocate_host(100'000);
  const CUstream a_stream = stream();
  const CUevent begin = event(CU_EVENT_DEFAULT);
  const CUevent end = event(CU_EVENT_DEFAULT);
  FERRY_OK(cuEventRecord(begin, a_stream));
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, 100'000, a_stream));
  FERRY_OK(cuEventRecord(end, a_stream));
  float milliseconds = -1;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, begin, end), CUDA_ERROR_NOT_READY)
      << "however early a schedule runs the work";
  FERRY_OK(cuEventSynchronize(end));
  EXPECT_EQ(between(begin, end), 13 * kMicro) << "the stream is idle for the copy's call";
}

TEST_P(ExportsTimeTest, AnEventCarriesTimeFromStreamToStream) {
  const CUdeviceptr device = allocate(200'000);
  void* const host = allocate_host(200'000);
  const CUstream first = stream();
  const CUstream second = stream();
  const CUevent done = event();
  EXPECT_EQ(cost_of([&] {
              FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, 100'000, first));  // 1 to 13 us
              FERRY_OK(cuEventRecord(done, first));
              FERRY_OK(cuStreamWaitEvent(second, done, 0));
              FERRY_OK(cuMemcpyDtoHAsync_v2(host, device, 80'000, second));  // 13 to 25 us
              FERRY_OK(cuStreamSynchronize(second));
            }),
            25 * kMicro);
}

TEST_P(ExportsTimeTest, PollingPassesTimeAndEndsWhenTheWorkDoes) {
  const CUdeviceptr device = allocate(100'000);
  void* const host = allocate_host(100'000);
  const CUstream a_stream = stream();
  const CUevent done = event();
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, 100'000, a_stream));
  FERRY_OK(cuEventRecord(done, a_stream));
  // The copy ends 12 us after its call; the record took 0.2, each query takes 0.4.
  int queries = 1;
  while (cuEventQuery(done) == CUDA_ERROR_NOT_READY) ++queries;
  EXPECT_EQ(queries, 30);
  EXPECT_EQ(cuStreamQuery(a_stream), CUDA_SUCCESS);
}

TEST_P(ExportsTimeTest, PageableCopiesHoldTheCaller) {
  const CUdeviceptr device = allocate(100'000);
  std::vector<char> host(100'000, 'a');
  const CUstream a_stream = stream();
  EXPECT_EQ(
      cost_of([&] { FERRY_OK(cuMemcpyHtoDAsync_v2(device, host.data(), 100'000, a_stream)); }),
      53 * kMicro);
  EXPECT_EQ(
      cost_of([&] { FERRY_OK(cuMemcpyDtoHAsync_v2(host.data(), device, 100'000, a_stream)); }),
      28 * kMicro);
  FERRY_OK(cuStreamSynchronize(a_stream));
  EXPECT_EQ(cost_of([&] { FERRY_OK(cuMemcpyHtoD_v2(device, host.data(), 100'000)); }), 53 * kMicro);
}

TEST_P(ExportsTimeTest, FillsAndCopiesWithinTheDevice) {
  const CUdeviceptr device = allocate(2'000'000);
  EXPECT_EQ(cost_of([&] {
              FERRY_OK(cuMemsetD8_v2(device, 1, 1'000'000));                     // 1 + 3 + 5 us
              FERRY_OK(cuMemcpyDtoD_v2(device + 1'000'000, device, 1'000'000));  // 2 + 10 us
              FERRY_OK(cuCtxSynchronize());
            }),
            21 * kMicro);
}

TEST_P(ExportsTimeTest, ABatchCostsTheSameWheneverItsSourcesAreRead) {
  constexpr std::size_t kMembers = 5;
  constexpr std::size_t kBytes = 20'000;
  const CUdeviceptr device = allocate(kMembers * kBytes);
  const auto host = reinterpret_cast<CUdeviceptr>(allocate_host(kMembers * kBytes));
  std::vector<CUdeviceptr> to;
  std::vector<CUdeviceptr> from;
  for (std::size_t i = 0; i < kMembers; ++i) {
    to.push_back(device + i * kBytes);
    from.push_back(host + i * kBytes);
  }
  std::vector<std::size_t> sizes(kMembers, kBytes);
  const CUstream a_stream = stream();
  for (const auto order :
       {CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL,
        CU_MEMCPY_SRC_ACCESS_ORDER_ANY}) {
    CUmemcpyAttributes attributes{};
    attributes.srcAccessOrder = order;
    std::size_t first = 0;
    EXPECT_EQ(cost_of([&] {
                FERRY_OK(cuMemcpyBatchAsync_v2(to.data(), from.data(), sizes.data(), kMembers,
                                               &attributes, &first, 1, a_stream));
              }),
              5 * kMicro + 500 * kNano)
        << "3 us and half a one for each";
    EXPECT_EQ(cost_of([&] { FERRY_OK(cuStreamSynchronize(a_stream)); }), 12 * kMicro);
  }
}

TEST_P(ExportsTimeTest, CallsCostWhatTheyDo) {
  CUdeviceptr address = 0;
  EXPECT_EQ(cost_of([&] { FERRY_OK(cuMemAlloc_v2(&address, 4 * kMiB)); }), 140 * kMicro);
  EXPECT_EQ(cost_of([&] { FERRY_OK(cuMemFree_v2(address)); }), 50 * kMicro);
  EXPECT_EQ(cost_of([&] { allocate_host(kMiB / 2); }), 80 * kMicro);
  std::vector<char> mine(2 * kMiB);
  EXPECT_EQ(cost_of([&] { FERRY_OK(cuMemHostRegister_v2(mine.data(), 2 * kMiB, 0)); }),
            26 * kMicro);
  EXPECT_EQ(cost_of([&] { EXPECT_NE(cuMemAlloc_v2(nullptr, 4), CUDA_SUCCESS); }), 100 * kMicro);
  FERRY_OK(cuMemHostUnregister(mine.data()));
}

TEST_P(ExportsTimeTest, FreeingWaitsForTheWorkOfItsContext) {
  const CUdeviceptr address = allocate(20'000'000);
  const CUdeviceptr other = allocate(16);
  EXPECT_EQ(cost_of([&] {
              FERRY_OK(cuMemsetD8_v2(address, 1, 20'000'000));  // at 1 us, for 3 + 100
              FERRY_OK(cuMemFree_v2(other));                    // 50 us, and the rest of those
            }),
            104 * kMicro);
}

TEST_P(ExportsTimeTest, MappingsCostOneByOne) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemAccessDesc access{};
  access.location = prop.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CUdeviceptr start = 0;
  FERRY_OK(cuMemAddressReserve(&start, 6 * kMiB, 0, 0, 0));
  for (int i = 0; i < 3; ++i) {
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_EQ(cost_of([&] { FERRY_OK(cuMemCreate(&handle, 2 * kMiB, &prop, 0)); }), 84 * kMicro);
    const CUdeviceptr place = start + static_cast<CUdeviceptr>(i) * 2 * kMiB;
    EXPECT_EQ(cost_of([&] { FERRY_OK(cuMemMap(place, 2 * kMiB, 0, handle, 0)); }), kMicro);
    FERRY_OK(cuMemRelease(handle));
  }
  EXPECT_EQ(cost_of([&] { FERRY_OK(cuMemSetAccess(start, 6 * kMiB, &access, 1)); }), 36 * kMicro);
  EXPECT_EQ(cost_of([&] { FERRY_OK(cuMemUnmap(start, 6 * kMiB)); }), 29 * kMicro);
}

TEST_P(ExportsTimeTest, HostWorkCountsOnlyWhereItIsSaid) {
  EXPECT_EQ(cost_of([] { ferry_sim_host_work(250); }), 250 * kNano);
  EXPECT_EQ(cost_of([] { ferry_sim_host_copy(5'000); }), kMicro);
  const CUstream a_stream = stream();
  EXPECT_EQ(cost_of([&] {
              FERRY_OK(cuLaunchHostFunc(
                  a_stream, [](void*) { ferry_sim_host_work(1'000'000); }, nullptr));
              FERRY_OK(cuStreamSynchronize(a_stream));
            }),
            11 * kMicro)
      << "4 us to launch and 7 us to dispatch";
}

// The closed form of a loop that stages pageable memory through one pinned buffer of `chunk` bytes:
// the host copies, submits and waits, and nothing overlaps.
TEST_P(ExportsTimeTest, StagingThroughOneBuffer) {
  constexpr std::uint64_t kChunk = 100'000;
  constexpr int kChunks = 20;
  const CUdeviceptr device = allocate(kChunk * kChunks);
  void* const buffer = allocate_host(kChunk);
  const CUstream a_stream = stream();
  const Picoseconds total = cost_of([&] {
    for (int i = 0; i < kChunks; ++i) {
      ferry_sim_host_copy(kChunk);
      FERRY_OK(cuMemcpyHtoDAsync_v2(device + static_cast<unsigned>(i) * kChunk, buffer, kChunk,
                                    a_stream));
      FERRY_OK(cuStreamSynchronize(a_stream));
    }
  });
  // 20 us of copying, 1 us to submit, 2 + 10 us of transfer.
  EXPECT_EQ(total, kChunks * 33 * kMicro);
}

// With two buffers copying and transfer overlap; the slower of the two sets the pace. Here the host
// needs 20 us to copy, 1 to submit, 0.2 to record and 5 to wait for the buffer of two rounds ago,
// the link 12.
TEST_P(ExportsTimeTest, StagingThroughTwoBuffers) {
  constexpr std::uint64_t kChunk = 100'000;
  constexpr int kChunks = 20;
  const CUdeviceptr device = allocate(kChunk * kChunks);
  char* const buffers = static_cast<char*>(allocate_host(2 * kChunk));
  const CUstream a_stream = stream();
  const CUevent free[] = {event(), event()};
  const Picoseconds total = cost_of([&] {
    for (int i = 0; i < kChunks; ++i) {
      const auto side = static_cast<unsigned>(i % 2);
      if (i >= 2) {
        FERRY_OK(cuEventSynchronize(free[side]));
      }
      ferry_sim_host_copy(kChunk);
      FERRY_OK(cuMemcpyHtoDAsync_v2(device + static_cast<unsigned>(i) * kChunk,
                                    buffers + side * kChunk, kChunk, a_stream));
      FERRY_OK(cuEventRecord(free[side], a_stream));
    }
    FERRY_OK(cuStreamSynchronize(a_stream));
  });
  // The last transfer begins 0.2 us before the last record is over, and ends 11.8 us after it.
  EXPECT_EQ(total, kChunks * 21'200 * kNano + (kChunks - 2) * 5 * kMicro + 11'800 * kNano);
}

TEST_P(ExportsTimeTest, AStreamThatIsGoneStillEndsInTime) {
  const CUdeviceptr device = allocate(100'000);
  void* const host = allocate_host(100'000);
  const CUstream a_stream = stream();
  EXPECT_EQ(cost_of([&] {
              FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, 100'000, a_stream));
              FERRY_OK(cuStreamDestroy_v2(a_stream));
              FERRY_OK(cuCtxSynchronize());
            }),
            13 * kMicro);
}

TEST_P(ExportsTimeTest, TheProfileAnswersForTheDevice) {
  char name[64] = {};
  FERRY_OK(cuDeviceGetName(name, sizeof name, 0));
  EXPECT_STREQ(name, "Round device");
  int value = 0;
  FERRY_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  EXPECT_EQ(value, 8);
  FERRY_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
  EXPECT_EQ(value, 6);
  FERRY_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  EXPECT_EQ(value, 84);
  FERRY_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
  EXPECT_EQ(value, 32);
  std::size_t bytes = 0;
  FERRY_OK(cuDeviceTotalMem_v2(&bytes, 0));
  EXPECT_EQ(bytes, 1024 * kMiB);
  restart(fmt::format("capacity=64MiB;profile={}", path));
  FERRY_OK(cuDeviceTotalMem_v2(&bytes, 0));
  EXPECT_EQ(bytes, 64 * kMiB) << "what is asked for outright counts";
}

INSTANTIATE_TEST_SUITE_P(Schedules, ExportsTimeTest, testing::ValuesIn(kSchedules),
                         [](const auto& schedule) {
                           std::string name = schedule.param;
                           std::erase_if(name, [](char c) { return c == ';' || c == '='; });
                           return name;
                         });

class TimeSettingsTest : public SimTest {};

TEST_F(TimeSettingsTest, ABadProfileIsRefused) {
  EXPECT_EQ(ferry_sim_reset("profile=h300"), -1);
  EXPECT_EQ(ferry_sim_reset("profile=/nonexistent.json"), -1);
  EXPECT_EQ(ferry_sim_reset("profile="), -1);
  EXPECT_EQ(ferry_sim_configure("profile=a100-pcie4"), -1) << "the machine is there already";
  EXPECT_EQ(ferry_sim_reset("profile=a100-pcie4"), 0);
}

TEST_F(TimeSettingsTest, EveryShippedProfileRuns) {
  for (const char* name : {"a100-pcie4", "gh200-c2c", "h100-pcie5-2socket", "h200-pcie5"}) {
    restart(fmt::format("data=none;profile={}", name));
    const CUdeviceptr device = allocate(256 * kMiB);
    void* const host = allocate_host(256 * kMiB);
    const std::uint64_t before = ferry_sim_now_ps();
    FERRY_OK(cuMemcpyHtoD_v2(device, host, 256 * kMiB));
    EXPECT_GT(ferry_sim_now_ps(), before + 700'000'000) << name << ": no link is that fast";
    EXPECT_LT(ferry_sim_now_ps(), before + 20'000'000'000) << name;
  }
}

TEST_F(TimeSettingsTest, WithoutAProfileOperationsTakeAMicrosecondAndCallsNone) {
  EXPECT_EQ(ferry_sim_now_ps(), 0U);
  const CUdeviceptr address = allocate(kMiB);
  FERRY_OK(cuMemsetD8_v2(address, 1, kMiB));
  EXPECT_EQ(ferry_sim_now_ps(), 0U);
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(ferry_sim_now_ps(), 1'000'000U);
  ferry_sim_host_copy(kMiB);
  EXPECT_EQ(ferry_sim_now_ps(), 1'000'000U);
  ferry_sim_host_work(3);
  EXPECT_EQ(ferry_sim_now_ps(), 1'003'000U);
}

}  // namespace
}  // namespace ferry::sim
