// SPDX-License-Identifier: Apache-2.0
// Kernels whose work is done by functions of the host: what they are given, when they run, and what
// the hazard checker sees of them.
#include <cstring>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

constexpr const char* kPtx =
    ".version 7.0\n.target sm_50\n"
    ".visible .entry scale_words() { ret; }\n.visible .entry nothing_known() { ret; }\n";

// scale_words(source, destination, count, factor): a word each; its second launch argument is a
// struct of the program's own.
struct Job {
  CUdeviceptr source;
  CUdeviceptr destination;
  std::uint32_t count;
  std::uint32_t factor;
};
constexpr std::size_t kSizes[] = {sizeof(Job)};

Job job_of(const void* const* arguments) {
  Job job{};
  std::memcpy(&job, arguments[0], sizeof job);
  return job;
}

std::size_t scale_ranges(const ferry_sim_launch*, const void* const* arguments,
                         ferry_sim_range* out, std::size_t) {
  const Job job = job_of(arguments);
  out[0] = {job.source, std::size_t{job.count} * 4, 0};
  out[1] = {job.destination, std::size_t{job.count} * 4, 1};
  return 2;
}

int runs = 0;
CUresult call_inside = CUDA_SUCCESS;

void scale_run(const ferry_sim_launch* launch, const void* const* arguments, void* const* memory) {
  ++runs;
  const Job job = job_of(arguments);
  EXPECT_EQ(launch->grid[0] * launch->block[0], 64U);
  const auto* const from = static_cast<const std::uint32_t*>(memory[0]);
  auto* const to = static_cast<std::uint32_t*>(memory[1]);
  for (std::uint32_t i = 0; i < job.count; ++i) to[i] = from[i] * job.factor;
  CUdeviceptr address = 0;
  call_inside = cuMemAlloc_v2(&address, 4);
}

class ExportsLaunchTest : public SimTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override { start(GetParam()); }
  void start(const std::string& settings) {
    restart(settings);
    runs = 0;
    const ferry_sim_kernel kernel{"scale_words", 1, kSizes, scale_ranges, scale_run, nullptr};
    ASSERT_EQ(ferry_sim_register_kernel(&kernel), 0);
    CUmodule module = nullptr;
    FERRY_OK(cuModuleLoadData(&module, kPtx));
    FERRY_OK(cuModuleGetFunction(&scale, module, "scale_words"));
    source = allocate(64 * 4);
    destination = allocate(64 * 4);
    FERRY_OK(cuMemsetD32_v2(source, 7, 64));
    FERRY_OK(cuMemsetD32_v2(destination, 0, 64));
    FERRY_OK(cuCtxSynchronize());
  }
  CUresult launch(Job job, CUstream where = nullptr) {
    void* arguments[] = {&job};
    return cuLaunchKernel(scale, 2, 1, 1, 32, 1, 1, 0, where, arguments, nullptr);
  }
  Job job(std::uint32_t factor) const { return {source, destination, 64, factor}; }

  CUfunction scale = nullptr;
  CUdeviceptr source = 0;
  CUdeviceptr destination = 0;
};

TEST_P(ExportsLaunchTest, ItsArgumentsAreThoseOfTheLaunch) {
  const CUstream a_stream = stream();
  Job mine = job(3);
  void* arguments[] = {&mine};
  FERRY_OK(cuLaunchKernel(scale, 2, 1, 1, 32, 1, 1, 0, a_stream, arguments, nullptr));
  mine.factor = 100;
  FERRY_OK(cuStreamSynchronize(a_stream));
  EXPECT_EQ(peek(destination), 21U);
  EXPECT_EQ(peek(destination + 63 * 4), 21U);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(call_inside, CUDA_ERROR_NOT_PERMITTED);
}

TEST_P(ExportsLaunchTest, ArgumentsMayComeInABuffer) {
  Job mine = job(4);
  std::size_t bytes = sizeof mine;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &mine, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  FERRY_OK(cuLaunchKernel(scale, 64, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(destination), 28U);
  bytes = 3;
  EXPECT_EQ(cuLaunchKernel(scale, 64, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_P(ExportsLaunchTest, AnotherStreamWithoutAWaitIsAHazard) {
  const CUstream first = stream();
  const CUstream second = stream();
  FERRY_OK(launch(job(3), first));
  FERRY_OK(launch({destination, source, 64, 1}, second));
  EXPECT_GE(ferry_sim_take_hazards(), 1U);
  FERRY_OK(cuCtxSynchronize());
  FERRY_OK(launch(job(3), first));
  const CUevent done = event();
  FERRY_OK(cuEventRecord(done, first));
  FERRY_OK(cuStreamWaitEvent(second, done, 0));
  FERRY_OK(launch({destination, source, 64, 1}, second));
  FERRY_OK(cuCtxSynchronize());
}

TEST_P(ExportsLaunchTest, MemoryThatIsNotThereIsAnIllegalAddress) {
  FERRY_OK(launch({source, source + (64 << 20), 64, 1}));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(runs, 0);
}

// Both ranges are declared; where they share bytes they share the copy.
TEST_P(ExportsLaunchTest, AKernelMayWorkInPlace) {
  FERRY_OK(launch({source, source, 64, 2}));
  FERRY_OK(launch({source, source + 32, 8, 10}));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(source), 14U);
  EXPECT_EQ(peek(source + 32), 140U);
  EXPECT_EQ(peek(source + 63 * 4), 14U);
}

TEST_P(ExportsLaunchTest, ARangeBeyondItsMemoryIsAnIllegalAddressHoweverLarge) {
  FERRY_OK(launch({source, destination, 0xFFFF'FFFF, 1}));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(runs, 0);
}

TEST_P(ExportsLaunchTest, PinnedMemoryOfTheHostCanBeUsed) {
  auto* const host = static_cast<std::uint32_t*>(allocate_host(64 * 4));
  FERRY_OK(launch({source, reinterpret_cast<CUdeviceptr>(host), 64, 5}));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(host[0], 35U);
}

TEST_P(ExportsLaunchTest, WithoutDataNothingRunsButTheOrderIsKept) {
  start(std::string(GetParam()) + ";data=none");
  FERRY_OK(launch(job(3)));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(runs, 0);
  FERRY_OK(launch({source, source + (64 << 20), 64, 1}));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(SimTest, AKernelWithoutAHostFunctionIsNotSupportedAndSaysSoOnce) {
  CUmodule module = nullptr;
  CUfunction unknown = nullptr;
  FERRY_OK(cuModuleLoadData(&module, kPtx));
  FERRY_OK(cuModuleGetFunction(&unknown, module, "nothing_known"));
  const auto launch = [&] {
    return cuLaunchKernel(unknown, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
  };
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch(), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(launch(), CUDA_ERROR_NOT_SUPPORTED);
  const std::string said = testing::internal::GetCapturedStderr();
  const std::size_t first = said.find("nothing_known");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(said.find("nothing_known", first + 1), std::string::npos);
}

TEST_F(SimTest, AKernelWithoutAHostFunctionMayBeSkipped) {
  restart("kernels=skipped");
  CUmodule module = nullptr;
  CUfunction unknown = nullptr;
  FERRY_OK(cuModuleLoadData(&module, kPtx));
  FERRY_OK(cuModuleGetFunction(&unknown, module, "nothing_known"));
  FERRY_OK(cuLaunchKernel(unknown, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  unsigned word = 1;
  FERRY_OK(cuMemcpyDtoH_v2(&word, allocate(sizeof word), sizeof word));
  EXPECT_EQ(word, 0U);
}

INSTANTIATE_TEST_SUITE_P(Schedules, ExportsLaunchTest,
                         testing::Values("schedule=eager", "schedule=lazy",
                                         "schedule=random;seed=1", "schedule=random;seed=2"));

}  // namespace
}  // namespace ferry::sim
