// SPDX-License-Identifier: Apache-2.0
#include "driver/cuda_status.hpp"

#include <gtest/gtest.h>

#include <map>

namespace ferry {
namespace {

TEST(CudaStatus, SuccessCarriesNothing) {
  EXPECT_TRUE(cuda_status(0, "cuInit").ok());
  EXPECT_EQ(cuda_status(0, "cuInit").describe(), "ok");
}

TEST(CudaStatus, KeepsTheNumberAndTheCall) {
  const Status status = cuda_status(2, "cuMemCreate");
  EXPECT_EQ(status.domain(), Domain::cuda);
  EXPECT_EQ(status.native(), 2);
  EXPECT_STREQ(status.site(), "cuMemCreate");
  EXPECT_EQ(status.describe(),
            "out of memory (cuMemCreate: CUDA error 2, CUDA_ERROR_OUT_OF_MEMORY)");
}

// By number, as cuda.h states them, so that the translation is checked against the ABI itself.
TEST(CudaStatus, TranslatesByMeaning) {
  const std::map<int, Code> expected{
      {1, Code::invalid_argument},    // INVALID_VALUE
      {2, Code::out_of_memory},       // OUT_OF_MEMORY
      {3, Code::not_initialized},     // NOT_INITIALIZED
      {4, Code::not_initialized},     // DEINITIALIZED
      {34, Code::not_initialized},    // STUB_LIBRARY
      {46, Code::no_device},          // DEVICE_UNAVAILABLE
      {100, Code::no_device},         // NO_DEVICE
      {101, Code::no_device},         // INVALID_DEVICE
      {201, Code::invalid_argument},  // INVALID_CONTEXT
      {214, Code::device_lost},       // ECC_UNCORRECTABLE
      {304, Code::io_error},          // OPERATING_SYSTEM
      {400, Code::invalid_argument},  // INVALID_HANDLE
      {500, Code::not_supported},     // NOT_FOUND
      {600, Code::not_ready},         // NOT_READY
      {700, Code::device_lost},       // ILLEGAL_ADDRESS
      {702, Code::device_lost},       // LAUNCH_TIMEOUT
      {709, Code::device_lost},       // CONTEXT_IS_DESTROYED
      {712, Code::invalid_argument},  // HOST_MEMORY_ALREADY_REGISTERED
      {716, Code::device_lost},       // MISALIGNED_ADDRESS
      {719, Code::device_lost},       // LAUNCH_FAILED
      {800, Code::invalid_argument},  // NOT_PERMITTED
      {801, Code::not_supported},     // NOT_SUPPORTED
      {803, Code::not_initialized},   // SYSTEM_DRIVER_MISMATCH
      {999, Code::internal},          // UNKNOWN
      {123456, Code::internal},       // none that cuda.h knows
  };
  for (const auto& [result, code] : expected) {
    EXPECT_EQ(cuda_status(result, "call").code(), code) << "CUDA error " << result;
  }
}

TEST(CudaStatus, EveryCaptureErrorIsCapture) {
  for (int result = 900; result <= 908; ++result) {
    EXPECT_EQ(cuda_status(result, "call").code(), Code::capture_active) << result;
  }
  EXPECT_NE(cuda_status(909, "call").code(), Code::capture_active);
}

}  // namespace
}  // namespace ferry
