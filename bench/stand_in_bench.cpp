// SPDX-License-Identifier: Apache-2.0
// What a small operation costs on the stand-in: a million copies and fills on eight streams, with
// events between them, under each schedule, without and with the hazard checker and with virtual
// time. The yardstick is the first of them in the same run: eager, unchecked, without a profile.
// The bar is 10 s for the million with the checker (10 us each).
#include <benchmark/benchmark.h>
#include <cuda.h>
#include <ferry/sim.h>

#include <array>
#include <cstdio>
#include <cstdlib>

extern "C" {
int ferry_sim_reset(const char* settings);
uint64_t ferry_sim_take_hazards(void);
}

namespace {

constexpr std::size_t kStreams = 8;
constexpr std::size_t kOperations = 1'000'000;
constexpr std::size_t kBytes = 256;

void must(CUresult result) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "the stand-in answered %d\n", static_cast<int>(result));
  std::exit(1);
}

// A stream with memory of its own on both sides, and its neighbour's event to wait for.
struct Lane {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUdeviceptr device = 0;
  void* host = nullptr;
};

Lane make_lane() {
  Lane lane;
  must(cuStreamCreate(&lane.stream, CU_STREAM_NON_BLOCKING));
  must(cuEventCreate(&lane.event, CU_EVENT_DISABLE_TIMING));
  must(cuMemAlloc(&lane.device, 4 * kBytes));
  must(cuMemHostAlloc(&lane.host, kBytes, 0));
  return lane;
}

// Eight operations, two of them for the order between neighbours.
void queue_eight(const Lane& lane, const Lane& neighbour) {
  must(cuMemcpyHtoDAsync(lane.device, lane.host, kBytes, lane.stream));
  must(cuMemsetD8Async(lane.device + kBytes, 1, kBytes, lane.stream));
  must(cuMemcpyDtoDAsync(lane.device + 2 * kBytes, lane.device, kBytes, lane.stream));
  must(cuMemcpyDtoDAsync(lane.device + 3 * kBytes, lane.device + kBytes, kBytes, lane.stream));
  must(cuMemsetD8Async(lane.device + kBytes, 2, kBytes, lane.stream));
  must(cuMemcpyDtoHAsync(lane.host, lane.device + 3 * kBytes, kBytes, lane.stream));
  must(cuEventRecord(lane.event, lane.stream));
  must(cuStreamWaitEvent(neighbour.stream, lane.event, 0));
}

void a_million(benchmark::State& state, const char* settings) {
  for (auto _ : state) {
    if (ferry_sim_reset(settings) != 0) std::exit(1);
    CUcontext context = nullptr;
    must(cuInit(0));
    must(cuDevicePrimaryCtxRetain(&context, 0));
    must(cuCtxSetCurrent(context));
    std::array<Lane, kStreams> lanes;
    for (Lane& lane : lanes) lane = make_lane();
    for (std::size_t i = 0; i < kOperations / 8; ++i) {
      queue_eight(lanes[i % kStreams], lanes[(i + 1) % kStreams]);
      if (i % 1000 == 999) must(cuCtxSynchronize());
    }
    must(cuCtxSynchronize());
    if (ferry_sim_take_hazards() != 0) std::exit(1);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kOperations));
}

#define FERRY_MILLION(name, settings) \
  BENCHMARK_CAPTURE(a_million, name, settings)->Unit(benchmark::kSecond)->Iterations(1)
FERRY_MILLION(eager_unchecked, "schedule=eager;hazards=off");
FERRY_MILLION(eager, "schedule=eager");
FERRY_MILLION(lazy_unchecked, "schedule=lazy;hazards=off");
FERRY_MILLION(lazy, "schedule=lazy");
FERRY_MILLION(random_unchecked, "schedule=random;seed=1;hazards=off");
FERRY_MILLION(random, "schedule=random;seed=1");
FERRY_MILLION(eager_profile, "schedule=eager;profile=h200-pcie5");
FERRY_MILLION(lazy_profile, "schedule=lazy;profile=h200-pcie5");

}  // namespace
