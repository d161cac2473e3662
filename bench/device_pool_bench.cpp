// SPDX-License-Identifier: Apache-2.0
// What an allocate and a free cost in the device pool's own code. The memory is warm, so that no
// driver call is made, and the stand-in serves without data. The yardstick is the C library's
// malloc and free of the same sizes in the same run, untouched: the price of a good general
// allocator on this machine.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "ferry/sim.h"
#include "memory/device_pool.hpp"

namespace {

using ferry::Bytes;
using ferry::StreamRef;

struct Bench {
  std::unique_ptr<ferry::Driver> driver;
  std::unique_ptr<ferry::Device> device;
  std::unique_ptr<ferry::DevicePool> pool;
};

Bench make_bench() {
  Bench bench;
  auto driver =
      ferry::Driver::load(ferry::DriverChoice{.kind = ferry::DriverChoice::Kind::sim, .path = {}});
  if (!driver) {
    std::fprintf(stderr, "%s\n", driver.error().c_str());
    std::exit(1);
  }
  bench.driver = std::move(driver).value();
  reinterpret_cast<ferry_sim_reset_fn>(bench.driver->find_symbol(FERRY_SIM_RESET))(
      "data=none;schedule=eager");
  bench.device = ferry::Device::open(*bench.driver, ferry::DeviceId{0}).value();
  bench.pool = ferry::DevicePool::create(*bench.device, {}).value();
  return bench;
}

// The least that both allocators have in common.
struct DevicePoolUnderTest {
  Bench bench = make_bench();
  void* take(std::size_t bytes) {
    return reinterpret_cast<void*>(bench.pool->allocate(Bytes{bytes}, StreamRef{}).value().value);
  }
  void give_back(void* pointer) {
    static_cast<void>(bench.pool->free(
        ferry::DeviceAddress{reinterpret_cast<std::uintptr_t>(pointer)}, StreamRef{}));
  }
};
struct CLibrary {
  void* take(std::size_t bytes) { return std::malloc(bytes); }
  void give_back(void* pointer) { std::free(pointer); }
};

template <typename Allocator>
void pair(benchmark::State& state) {
  Allocator allocator;
  const auto bytes = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    void* const pointer = allocator.take(bytes);
    benchmark::DoNotOptimize(pointer);
    allocator.give_back(pointer);
  }
}

// Four hundred live blocks of ten sizes; each step frees one at random and allocates another.
template <typename Allocator>
void churn(benchmark::State& state) {
  constexpr std::size_t kLive = 400;
  constexpr std::size_t kSizes[] = {512,     4096,    20'000,    65'536,    200'000,
                                    524'288, 1 << 20, 3'000'000, 5'000'000, 16 << 20};
  Allocator allocator;
  std::mt19937 random(7);
  std::vector<void*> live;
  const auto next_size = [&] { return kSizes[random() % std::size(kSizes)]; };
  for (std::size_t i = 0; i < kLive; ++i) live.push_back(allocator.take(next_size()));
  const auto step = [&] {
    void*& slot = live[random() % kLive];
    allocator.give_back(slot);
    slot = allocator.take(next_size());
  };
  for (std::size_t i = 0; i < 100 * kLive; ++i) step();
  for (auto _ : state) step();
  for (void* const pointer : live) allocator.give_back(pointer);
}

BENCHMARK(pair<DevicePoolUnderTest>)->Arg(512)->Arg(64 << 10)->Arg(4 << 20)->Arg(64 << 20);
BENCHMARK(pair<CLibrary>)->Arg(512)->Arg(64 << 10)->Arg(4 << 20)->Arg(64 << 20);
BENCHMARK(churn<DevicePoolUnderTest>);
BENCHMARK(churn<CLibrary>);

}  // namespace
