// SPDX-License-Identifier: Apache-2.0
// What tests between processes have in common: the context of a second process's part, and how what
// is passed to it looks.
#pragma once

#include <cstdint>

#include "conformance/fixture.hpp"
#include "conformance/peer_process.hpp"

namespace ferry::conformance {

inline constexpr auto kDescriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
inline constexpr unsigned kShared = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;

// How an import takes a descriptor.
[[nodiscard]] inline void* in_a_pointer(int descriptor) {
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
}

inline void write_word(CUdeviceptr address, unsigned word) {
  EXPECT_EQ(cuda().cuMemcpyHtoD_v2(address, &word, sizeof word), CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuCtxSynchronize(), CUDA_SUCCESS);
}

// A test of events between processes, where the device shares them.
class WithSharedEvents : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    int events = 0;
    FERRY_OK(cuda().cuDeviceGetAttribute(&events, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, device));
    if (events == 0) GTEST_SKIP() << "the device shares no events";
  }
};

// The context of a role; as WithContext for tests.
struct RoleContext {
  RoleContext() {
    EXPECT_EQ(cuda().cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuCtxPushCurrent_v2(context), CUDA_SUCCESS);
  }
  ~RoleContext() { EXPECT_EQ(cuda().cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS); }
  RoleContext(const RoleContext&) = delete;
  RoleContext& operator=(const RoleContext&) = delete;

  CUcontext context = nullptr;
};

}  // namespace ferry::conformance
