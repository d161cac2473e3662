// SPDX-License-Identifier: Apache-2.0
// What the tests of the runtime stand on: the two shared libraries as any program is linked with
// them, and a fresh machine of two devices for each test.
#pragma once

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <ferry/sim.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#define FERRY_OK(call) ASSERT_EQ((call), cudaSuccess)

// What nvcc's code calls; declared in headers that only nvcc reads.
extern "C" {
void** __cudaRegisterFatBinary(void* image);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* device, const char* name,
                            int limit, uint3* thread, uint3* block, dim3* block_shape,
                            dim3* grid_shape, int* warp);
void __cudaRegisterVar(void** handle, char* host, char* device, const char* name, int outside,
                       size_t bytes, int constant, int global);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t stream);
}

namespace ferry::sim::runtime {

template <typename Function>
Function control(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

class RuntimeTest : public testing::Test {
 protected:
  void SetUp() override { restart("devices=2"); }
  void TearDown() override {
    EXPECT_EQ(take_hazards(), 0U) << "hazards that the test did not expect";
  }

  static void restart(const std::string& settings) {
    ASSERT_EQ(control<ferry_sim_reset_fn>(FERRY_SIM_RESET)(settings.c_str()), 0);
    FERRY_OK(cudaSetDevice(0));
    static_cast<void>(cudaGetLastError());
  }
  static unsigned long long take_hazards() {
    return control<ferry_sim_take_hazards_fn>(FERRY_SIM_TAKE_HAZARDS)();
  }

  static char* allocate(size_t bytes) {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, bytes), cudaSuccess);
    return static_cast<char*>(memory);
  }
  static char* allocate_host(size_t bytes, char value = 0) {
    void* memory = nullptr;
    EXPECT_EQ(cudaMallocHost(&memory, bytes), cudaSuccess);
    std::fill_n(static_cast<char*>(memory), bytes, value);
    return static_cast<char*>(memory);
  }
  static std::vector<char> contents(const void* device, size_t bytes) {
    std::vector<char> host(bytes);
    EXPECT_EQ(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
    return host;
  }
  static std::vector<char> all(size_t bytes, char value) { return std::vector<char>(bytes, value); }
};

// Code as nvcc registers it, for as long as this lives. Its kernels have the addresses of `hosts`.
class RegisteredCode {
 public:
  RegisteredCode() : handle_(__cudaRegisterFatBinary(nullptr)) {}
  ~RegisteredCode() { __cudaUnregisterFatBinary(handle_); }
  RegisteredCode(const RegisteredCode&) = delete;
  RegisteredCode& operator=(const RegisteredCode&) = delete;

  void kernel(const void* host, const char* name) {
    __cudaRegisterFunction(handle_, static_cast<const char*>(host), nullptr, name, -1, nullptr,
                           nullptr, nullptr, nullptr, nullptr);
  }
  void variable(const void* host, const char* name, size_t bytes) {
    auto* const same = const_cast<char*>(static_cast<const char*>(host));
    __cudaRegisterVar(handle_, same, nullptr, name, 0, bytes, 0, 0);
  }

 private:
  void** handle_;
};

// A function of the host for a kernel "fill(pointer, bytes, value)".
void register_fill();
struct FillArguments {
  void* memory;
  std::uint64_t bytes;
  int value;
  void* pointers[3] = {&memory, &bytes, &value};
};

}  // namespace ferry::sim::runtime
