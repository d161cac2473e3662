// SPDX-License-Identifier: Apache-2.0
// Ferry's own kernels, launched as a program does: each does on device memory what its body says.
#include "sim/machine/own_kernels.hpp"

#include <fmt/format.h>

#include <numeric>

#include "cuda/kernels/kernels.hpp"
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

constexpr std::uint32_t kWords = 64;

// An image with the names of all kernels and no code.
std::string image() {
  std::string text = ".version 7.0\n.target sm_50\n";
  for (const ferry_sim_kernel& kernel : own_kernels())
    text += fmt::format(".visible .entry {}() {{ ret; }}\n", kernel.name);
  return text;
}

class OwnKernelsTest : public SimTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override { start(GetParam()); }
  void start(const std::string& settings) {
    restart(settings);
    FERRY_OK(cuModuleLoadData(&module, image().c_str()));
  }
  template <typename Body>
  void launch(const char* name, Body body) {
    CUfunction function = nullptr;
    FERRY_OK(cuModuleGetFunction(&function, module, name));
    void* arguments[] = {&body};
    FERRY_OK(cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  }
  // Device memory of so many words, as a kernel's argument has it.
  std::uint32_t* words(std::uint32_t first, std::size_t count = kWords) {
    const CUdeviceptr address = allocate(count * 4);
    std::vector<std::uint32_t> values(count);
    std::iota(values.begin(), values.end(), first);
    EXPECT_EQ(cuMemcpyHtoD_v2(address, values.data(), count * 4), CUDA_SUCCESS);
    return reinterpret_cast<std::uint32_t*>(address);
  }
  template <typename Word>
  std::vector<Word> content(const Word* device, std::size_t count) {
    std::vector<Word> values(count);
    EXPECT_EQ(
        cuMemcpyDtoH_v2(values.data(), reinterpret_cast<CUdeviceptr>(device), count * sizeof(Word)),
        CUDA_SUCCESS);
    return values;
  }
  CUmodule module = nullptr;
};

TEST_P(OwnKernelsTest, FillWritesEveryWord) {
  std::uint32_t* const to = words(0);
  launch("ferry_fill", kernels::Fill{to, kWords - 1, 9});
  const auto values = content(to, kWords);
  EXPECT_EQ(values[0], 9U);
  EXPECT_EQ(values[kWords - 2], 9U);
  EXPECT_EQ(values[kWords - 1], kWords - 1) << "and no more";
}

TEST_P(OwnKernelsTest, CompareCountsAndAdds) {
  std::uint32_t* const one = words(0);
  std::uint32_t* const other = words(0);
  FERRY_OK(cuMemsetD32_v2(reinterpret_cast<CUdeviceptr>(other), 5, 4));  // 0, 1, 2, 3 before
  auto* const differences = reinterpret_cast<unsigned long long*>(words(0, 2));
  FERRY_OK(cuMemsetD32_v2(reinterpret_cast<CUdeviceptr>(differences), 0, 2));
  launch("ferry_compare", kernels::Compare{one, other, differences, kWords});
  launch("ferry_compare", kernels::Compare{one, one, differences, kWords});
  launch("ferry_compare", kernels::Compare{one, other, differences, 3});
  EXPECT_EQ(content(differences, 1)[0], 7U);
}

TEST_P(OwnKernelsTest, GatherAndScatterMoveRows) {
  constexpr std::uint64_t kRowWords = 4;
  std::uint32_t* const table = words(0);  // 16 rows
  std::uint32_t* const rows = words(1000, 3 * kRowWords);
  std::uint32_t* const numbers = words(0, 3);
  const std::uint32_t chosen[] = {15, 2, 16};  // the last is beyond the table
  FERRY_OK(cuMemcpyHtoD_v2(reinterpret_cast<CUdeviceptr>(numbers), chosen, sizeof chosen));
  launch("ferry_gather", kernels::Gather{{table, rows, numbers, 16, 3, kRowWords}});
  EXPECT_EQ(content(rows, 12),
            (std::vector<std::uint32_t>{60, 61, 62, 63, 8, 9, 10, 11, 1008, 1009, 1010, 1011}));

  std::uint32_t* const other = words(500);
  launch("ferry_scatter", kernels::Scatter{{other, rows, numbers, 16, 3, kRowWords}});
  const auto values = content(other, kWords);
  EXPECT_EQ(values[60], 60U);
  EXPECT_EQ(values[8], 8U);
  EXPECT_EQ(values[0], 500U);
}

TEST_P(OwnKernelsTest, SpinTakesItsTimeOnTheVirtualClock) {
  start(std::string(GetParam()) + ";profile=a100-pcie4");
  const std::uint64_t before = ferry_sim_now_ps();
  launch("ferry_spin", kernels::Spin{2'000'000});
  EXPECT_LT(ferry_sim_now_ps() - before, 1'000'000'000U) << "the caller does not wait";
  FERRY_OK(cuCtxSynchronize());
  const std::uint64_t took = ferry_sim_now_ps() - before;
  EXPECT_GE(took, 2'000'000'000U);
  EXPECT_LT(took, 2'100'000'000U);
}

INSTANTIATE_TEST_SUITE_P(Schedules, OwnKernelsTest,
                         testing::Values("schedule=eager", "schedule=lazy",
                                         "schedule=random;seed=1"));

}  // namespace
}  // namespace ferry::sim
