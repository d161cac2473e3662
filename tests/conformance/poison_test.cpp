// SPDX-License-Identifier: Apache-2.0
// Access that must fail. Where a driver finds it out is its own affair, at the call or when the
// work runs; what counts is that no such copy is reported as done. An access that fails on the
// device leaves the process unusable for CUDA, so each of these runs in a process of its own.
#include <cstdio>
#include <cstdlib>

#include "conformance/fixture.hpp"

namespace ferry::conformance {
namespace {

class Poison : public WithContext {};
using PoisonDeathTest = Poison;

constexpr int kRefused = 3;

// Ends the process: with kRefused when the work failed at the call or by the time it had run.
[[noreturn]] void judge(CUresult at_call) {
  const CUresult at_end = cuda().cuCtxSynchronize();
  const bool refused = at_call != CUDA_SUCCESS || at_end != CUDA_SUCCESS;
  if (!refused) std::fprintf(stderr, "the access was reported as done\n");
  std::_Exit(refused ? kRefused : 1);
}

struct Mapped {
  explicit Mapped(CUdevice device, std::size_t granules = 1) : prop(pinned_on(device)) {
    EXPECT_EQ(
        cuda().cuMemGetAllocationGranularity(&granule, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
        CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuMemAddressReserve(&base, 4 * granule, 0, 0, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuMemCreate(&handle, granules * granule, &prop, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuMemMap(base, granules * granule, 0, handle, 0), CUDA_SUCCESS);
  }
  void open(CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
    const CUmemAccessDesc description = access_of(prop.location.id, flags);
    EXPECT_EQ(cuda().cuMemSetAccess(base, granule, &description, 1), CUDA_SUCCESS);
  }

  CUmemAllocationProp prop;
  std::size_t granule = 0;
  CUdeviceptr base = 0;
  CUmemGenericAllocationHandle handle = 0;
};

TEST_F(PoisonDeathTest, WritingToAReservationWithoutMemory) {
  EXPECT_EXIT(
      {
        CUdeviceptr base = 0;
        if (cuda().cuMemAddressReserve(&base, 2 * kMiB, 0, 0, 0) != CUDA_SUCCESS) std::_Exit(1);
        judge(cuda().cuMemsetD8_v2(base, 1, 4096));
      },
      testing::ExitedWithCode(kRefused), "");
}

TEST_F(PoisonDeathTest, WritingBeforeAccessIsSet) {
  EXPECT_EXIT(
      {
        const Mapped memory(device);
        judge(cuda().cuMemsetD8_v2(memory.base, 1, 4096));
      },
      testing::ExitedWithCode(kRefused), "");
}

TEST_F(PoisonDeathTest, ReadingBeforeAccessIsSet) {
  EXPECT_EXIT(
      {
        const Mapped memory(device);
        unsigned word = 0;
        judge(cuda().cuMemcpyDtoH_v2(&word, memory.base, sizeof word));
      },
      testing::ExitedWithCode(kRefused), "");
}

TEST_F(PoisonDeathTest, WritingAfterAccessIsTakenAway) {
  EXPECT_EXIT(
      {
        Mapped memory(device);
        memory.open();
        if (cuda().cuMemsetD8_v2(memory.base, 1, 4096) != CUDA_SUCCESS) std::_Exit(1);
        if (cuda().cuCtxSynchronize() != CUDA_SUCCESS) std::_Exit(1);
        memory.open(CU_MEM_ACCESS_FLAGS_PROT_NONE);
        judge(cuda().cuMemsetD8_v2(memory.base, 1, 4096));
      },
      testing::ExitedWithCode(kRefused), "");
}

TEST_F(PoisonDeathTest, WritingAfterUnmap) {
  EXPECT_EXIT(
      {
        Mapped memory(device);
        memory.open();
        if (cuda().cuMemUnmap(memory.base, memory.granule) != CUDA_SUCCESS) std::_Exit(1);
        judge(cuda().cuMemsetD8_v2(memory.base, 1, 4096));
      },
      testing::ExitedWithCode(kRefused), "");
}

TEST_F(PoisonDeathTest, RunningPastTheLastMapping) {
  EXPECT_EXIT(
      {
        Mapped memory(device);
        memory.open();
        judge(cuda().cuMemsetD8_v2(memory.base + memory.granule - 2048, 1, 4096));
      },
      testing::ExitedWithCode(kRefused), "");
}

TEST_F(PoisonDeathTest, WritingAfterFree) {
  EXPECT_EXIT(
      {
        CUdeviceptr address = 0;
        if (cuda().cuMemAlloc_v2(&address, 64 * kMiB) != CUDA_SUCCESS) std::_Exit(1);
        if (cuda().cuMemFree_v2(address) != CUDA_SUCCESS) std::_Exit(1);
        judge(cuda().cuMemsetD8_v2(address, 1, 4096));
      },
      testing::ExitedWithCode(kRefused), "");
}

TEST_F(PoisonDeathTest, ReadingAfterFree) {
  EXPECT_EXIT(
      {
        CUdeviceptr address = 0;
        if (cuda().cuMemAlloc_v2(&address, 64 * kMiB) != CUDA_SUCCESS) std::_Exit(1);
        if (cuda().cuMemFree_v2(address) != CUDA_SUCCESS) std::_Exit(1);
        unsigned word = 0;
        judge(cuda().cuMemcpyDtoH_v2(&word, address, sizeof word));
      },
      testing::ExitedWithCode(kRefused), "");
}

}  // namespace
}  // namespace ferry::conformance
