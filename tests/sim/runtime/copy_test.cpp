// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime {
namespace {

TEST_F(RuntimeTest, CopiesGoWhereTheirKindSays) {
  char* const device = allocate(64);
  const std::vector<char> ones = all(64, 1);
  FERRY_OK(cudaMemcpy(device, ones.data(), 64, cudaMemcpyHostToDevice));
  char* const other = allocate(64);
  FERRY_OK(cudaMemcpy(other, device, 64, cudaMemcpyDeviceToDevice));
  std::vector<char> back(64);
  FERRY_OK(cudaMemcpy(back.data(), other, 64, cudaMemcpyDefault));
  EXPECT_EQ(back, ones);
  FERRY_OK(cudaMemcpy(back.data(), all(64, 2).data(), 64, cudaMemcpyHostToHost));
  EXPECT_EQ(back, all(64, 2));
}

TEST_F(RuntimeTest, AKindThatDoesNotFitIsRefused) {
  char* const device = allocate(64);
  char host[64];
  EXPECT_EQ(cudaMemcpy(host, device, 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device, host, 64, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(host, host, 64, cudaMemcpyDeviceToDevice, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device, host, 64, std::bit_cast<cudaMemcpyKind>(9)),
            cudaErrorInvalidMemcpyDirection);
}

TEST_F(RuntimeTest, AsynchronousCopiesWaitForTheirStream) {
  restart("schedule=lazy");
  char* const device = allocate(64);
  char* const from = allocate_host(64, 1);
  char* const to = allocate_host(64);
  cudaStream_t stream = nullptr;
  FERRY_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  FERRY_OK(cudaMemcpyAsync(device, from, 64, cudaMemcpyHostToDevice, stream));
  FERRY_OK(cudaMemcpyAsync(to, device, 64, cudaMemcpyDeviceToHost, stream));
  EXPECT_EQ(to[0], 0);
  FERRY_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(to[63], 1);
}

TEST_F(RuntimeTest, RowsAndFills) {
  char* const device = allocate(4 * 16);
  FERRY_OK(cudaMemset(device, 7, 64));
  FERRY_OK(cudaMemset2D(device, 16, 3, 4, 4));
  char host[4 * 8] = {};
  FERRY_OK(cudaMemcpy2D(host, 8, device, 16, 8, 4, cudaMemcpyDeviceToHost));
  for (int row = 0; row < 4; ++row) {
    EXPECT_EQ(host[row * 8 + 3], 3);
    EXPECT_EQ(host[row * 8 + 4], 7);
  }
}

TEST_F(RuntimeTest, CopiesBetweenDevices) {
  char* const first = allocate(64);
  FERRY_OK(cudaMemset(first, 5, 64));
  FERRY_OK(cudaDeviceSynchronize());
  FERRY_OK(cudaSetDevice(1));
  char* const second = allocate(64);
  FERRY_OK(cudaMemcpyPeer(second, 1, first, 0, 64));
  EXPECT_EQ(contents(second, 64), all(64, 5));
}

}  // namespace
}  // namespace ferry::sim::runtime
