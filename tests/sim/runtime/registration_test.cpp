// SPDX-License-Identifier: Apache-2.0
#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime {
namespace {

TEST_F(RuntimeTest, ALaunchByItsConfiguration) {
  register_fill();
  RegisteredCode code;
  char host_side = 0;
  code.kernel(&host_side, "fill");
  EXPECT_EQ(__cudaPushCallConfiguration(dim3(2, 3), dim3(4), 5, cudaStreamPerThread), 0U);
  dim3 grid;
  dim3 block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
  FERRY_OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
  EXPECT_EQ(grid.y, 3U);
  EXPECT_EQ(block.x, 4U);
  EXPECT_EQ(shared, 5U);
  EXPECT_EQ(stream, cudaStreamPerThread);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream),
            cudaErrorMissingConfiguration);
  cudaKernel_t kernel = nullptr;
  FERRY_OK(__cudaGetKernel(&kernel, &host_side));
  char* const device = allocate(64);
  FillArguments arguments{device, 64, 2};
  FERRY_OK(__cudaLaunchKernel(kernel, grid, block, arguments.pointers, shared, nullptr));
  EXPECT_EQ(contents(device, 64), all(64, 2));
}

}  // namespace
}  // namespace ferry::sim::runtime
