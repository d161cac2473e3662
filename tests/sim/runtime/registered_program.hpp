// SPDX-License-Identifier: Apache-2.0
// What nvcc's code does when a program starts and ends, by hand: a translation unit registers its
// kernels and variables by the addresses of their host sides. And a kernel for the driver stand-in
// to run.
#pragma once

#include <cstring>

#include "sim/runtime/runtime_fixture.hpp"

extern "C" {
void** __cudaRegisterFatBinary(void* image);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
char __cudaInitModule(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* device_side, const char* name,
                            int thread_limit, uint3* thread, uint3* block, dim3* block_size,
                            dim3* grid_size, int* warp_size);
void __cudaRegisterVar(void** handle, char* host, char* device_side, const char* name, int external,
                       std::size_t bytes, int constant, int global);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                     CUstream_st* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared, cudaStream_t stream);
}

namespace ferry::sim::runtime_test {

class RegisteredUnit {
 public:
  RegisteredUnit() : handle_(__cudaRegisterFatBinary(nullptr)) {}
  ~RegisteredUnit() { end(); }
  RegisteredUnit(const RegisteredUnit&) = delete;
  RegisteredUnit& operator=(const RegisteredUnit&) = delete;

  void kernel(const void* host, const char* name) {
    __cudaRegisterFunction(handle_, static_cast<const char*>(host), nullptr, name, -1, nullptr,
                           nullptr, nullptr, nullptr, nullptr);
  }
  void variable(void* host, const char* name, std::size_t bytes) {
    __cudaRegisterVar(handle_, static_cast<char*>(host), nullptr, name, 0, bytes, 0, 0);
  }
  void end() {
    if (handle_ != nullptr) __cudaUnregisterFatBinary(handle_);
    handle_ = nullptr;
  }

 private:
  void** handle_;
};

// fill_words(to, count, value): a word for each thread of the launch.
struct FillWords {
  static constexpr const char* kName = "fill_words";
  // What stands for the kernel in the host's code; never called.
  static void host_side() {}
  static const void* host() { return reinterpret_cast<const void*>(&host_side); }

  static std::size_t ranges(const ferry_sim_launch*, const void* const* arguments,
                            ferry_sim_range* out, std::size_t) {
    std::uint64_t to = 0;
    std::uint32_t count = 0;
    std::memcpy(&to, arguments[0], sizeof to);
    std::memcpy(&count, arguments[1], sizeof count);
    out[0] = {to, std::size_t{count} * sizeof(std::uint32_t), 1};
    return 1;
  }
  static void run(const ferry_sim_launch* launch, const void* const* arguments,
                  void* const* memory) {
    newest = *launch;
    std::uint32_t count = 0;
    std::uint32_t value = 0;
    std::memcpy(&count, arguments[1], sizeof count);
    std::memcpy(&value, arguments[2], sizeof value);
    auto* const to = static_cast<std::uint32_t*>(memory[0]);
    for (std::uint32_t i = 0; i < count; ++i) to[i] = value;
  }
  static void give_to_the_driver() {
    static constexpr std::size_t kSizes[] = {sizeof(void*), sizeof(std::uint32_t),
                                             sizeof(std::uint32_t)};
    const ferry_sim_kernel kernel{kName, 3, kSizes, ranges, run, nullptr};
    ASSERT_EQ(control<ferry_sim_register_kernel_fn>(FERRY_SIM_REGISTER_KERNEL)(&kernel), 0);
  }

  inline static ferry_sim_launch newest{};  // the last one that has run
};

// The arguments of one launch of fill_words.
struct FillArguments {
  void* to;
  std::uint32_t count;
  std::uint32_t value;
  void* all[3] = {&to, &count, &value};

  FillArguments(void* memory, std::uint32_t words, std::uint32_t with)
      : to(memory), count(words), value(with) {}
  FillArguments(const FillArguments&) = delete;
  FillArguments& operator=(const FillArguments&) = delete;
};

}  // namespace ferry::sim::runtime_test
