// SPDX-License-Identifier: Apache-2.0
// What is particular to the stand-in; what cuda.h promises is judged by the conformance suite, with
// a second process.
#include <cstring>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsIpcTest : public SimTest {};

TEST_F(ExportsIpcTest, NonsenseIsNoHandle) {
  CUipcMemHandle memory{};
  CUipcEventHandle event{};
  CUdeviceptr address = 0;
  CUevent opened = nullptr;
  for (const int byte : {0, 1, 0xFF}) {
    std::memset(&memory, byte, sizeof memory);
    std::memset(&event, byte, sizeof event);
    EXPECT_EQ(cuIpcOpenMemHandle_v2(&address, memory, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuIpcOpenMemHandle(&address, memory, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuIpcOpenEventHandle(&opened, event), CUDA_ERROR_INVALID_VALUE);
  }
  EXPECT_EQ(cuIpcCloseMemHandle(allocate(16)), CUDA_ERROR_INVALID_VALUE);
  const CUdeviceptr own = allocate(16);
  FERRY_OK(cuIpcGetMemHandle(&memory, own));
  EXPECT_EQ(cuIpcOpenMemHandle_v2(&address, memory, 0), CUDA_ERROR_INVALID_VALUE)
      << "the flag is asked for";
  std::memcpy(&event, &memory, sizeof event);
  EXPECT_EQ(cuIpcOpenEventHandle(&opened, event), CUDA_ERROR_INVALID_VALUE) << "a handle of memory";
}

TEST_F(ExportsIpcTest, AHandleIsTheAllocationsWhereverItIsAskedFor) {
  const CUdeviceptr address = allocate(1000);
  CUipcMemHandle first{};
  CUipcMemHandle second{};
  FERRY_OK(cuIpcGetMemHandle(&first, address));
  FERRY_OK(cuIpcGetMemHandle(&second, address + 999));
  EXPECT_EQ(std::memcmp(&first, &second, sizeof first), 0);
  EXPECT_EQ(cuIpcGetMemHandle(&second, address + 1000), CUDA_ERROR_INVALID_VALUE);
  const CUdeviceptr neighbour = allocate(1000);
  FERRY_OK(cuIpcGetMemHandle(&second, neighbour));
  EXPECT_NE(std::memcmp(&first, &second, sizeof first), 0);
}

TEST_F(ExportsIpcTest, NeitherNeedsASecondProcessToKeepItsBytes) {
  const CUdeviceptr address = allocate(1000);
  const CUdeviceptr neighbour = allocate(1000);
  FERRY_OK(cuMemsetD32_v2(address, 7, 1));
  FERRY_OK(cuMemsetD32_v2(neighbour, 8, 1));
  CUipcMemHandle handle{};
  FERRY_OK(cuIpcGetMemHandle(&handle, address));
  EXPECT_EQ(peek(address), 7U);
  EXPECT_EQ(peek(neighbour), 8U);
  EXPECT_EQ(peek(address + 4), kUnwritten);
}

}  // namespace
}  // namespace ferry::sim
