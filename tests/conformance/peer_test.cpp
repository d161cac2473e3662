// SPDX-License-Identifier: Apache-2.0
// Copies between the memory of two contexts, and access to a peer's. The tests that need two
// devices are skipped where there is one.
#include "conformance/fixture.hpp"

namespace ferry::conformance {
namespace {

constexpr std::size_t kBytes = 4096;

class Peers : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    int count = 0;
    FERRY_OK(cuda().cuDeviceGetCount(&count));
    if (count < 2) GTEST_SKIP() << "one device";
    int can = 0;
    FERRY_OK(cuda().cuDeviceCanAccessPeer(&can, device, 1));
    if (can == 0) GTEST_SKIP() << "the devices cannot reach each other";
    FERRY_OK(cuda().cuDevicePrimaryCtxRetain(&other, 1));
    FERRY_OK(cuda().cuCtxPushCurrent_v2(other));
    EXPECT_EQ(cuda().cuMemAlloc_v2(&theirs, kBytes), CUDA_SUCCESS);
    FERRY_OK(cuda().cuMemsetD8_v2(theirs, 0x51, kBytes));
    FERRY_OK(cuda().cuCtxSynchronize());
    CUcontext popped = nullptr;
    FERRY_OK(cuda().cuCtxPopCurrent_v2(&popped));
  }
  void TearDown() override {
    if (other != nullptr) {
      EXPECT_EQ(cuda().cuMemFree_v2(theirs), CUDA_SUCCESS);
      EXPECT_EQ(cuda().cuDevicePrimaryCtxRelease_v2(1), CUDA_SUCCESS);
    }
    WithContext::TearDown();
  }

  CUcontext other = nullptr;
  CUdeviceptr theirs = 0;
};

TEST_F(Peers, PeerCopiesNeedNoAccess) {
  const StreamOwner stream;
  const DeviceBuffer ours(kBytes);
  PinnedBuffer to(kBytes);
  FERRY_OK(cuda().cuMemcpyPeerAsync(ours.address, context, theirs, other, kBytes, stream.handle));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, ours.address, kBytes, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(to.holds(0x51));
}

TEST_F(Peers, PlainCopiesNeedNoAccessEither) {
  const StreamOwner stream;
  const DeviceBuffer ours(kBytes);
  PinnedBuffer to(kBytes);
  FERRY_OK(cuda().cuMemcpyDtoDAsync_v2(ours.address, theirs, kBytes, stream.handle));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, ours.address, kBytes, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(to.holds(0x51));
  FERRY_OK(cuda().cuMemsetD8_v2(ours.address, 0x52, kBytes));
  FERRY_OK(cuda().cuMemcpy(theirs, ours.address, kBytes));
  FERRY_OK(cuda().cuCtxSynchronize());
  FERRY_OK(cuda().cuMemcpyDtoH_v2(to.pointer, theirs, kBytes));
  EXPECT_TRUE(to.holds(0x52));
}

TEST_F(Peers, EnabledAccessReachesOldAndNewAllocations) {
  const StreamOwner stream;
  PinnedBuffer to(kBytes);
  FERRY_OK(cuda().cuCtxEnablePeerAccess(other, 0));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, theirs, kBytes, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(to.holds(0x51));
  FERRY_OK(cuda().cuCtxPushCurrent_v2(other));
  const DeviceBuffer later(kBytes);
  CUcontext popped = nullptr;
  FERRY_OK(cuda().cuCtxPopCurrent_v2(&popped));
  FERRY_OK(cuda().cuMemsetD8Async(later.address, 0x52, kBytes, stream.handle));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, later.address, kBytes, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(to.holds(0x52));
  FERRY_OK(cuda().cuCtxDisablePeerAccess(other));
}

TEST_F(Peers, AccessIsEnabledAndDisabledOnce) {
  EXPECT_EQ(cuda().cuCtxDisablePeerAccess(other), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  FERRY_OK(cuda().cuCtxEnablePeerAccess(other, 0));
  EXPECT_EQ(cuda().cuCtxEnablePeerAccess(other, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  FERRY_OK(cuda().cuCtxDisablePeerAccess(other));
  EXPECT_EQ(cuda().cuCtxDisablePeerAccess(other), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  EXPECT_EQ(cuda().cuCtxEnablePeerAccess(other, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Peers, TheLinkHasAttributes) {
  int value = -1;
  FERRY_OK(cuda().cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
  EXPECT_EQ(value, 1);
  EXPECT_EQ(cuda().cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0),
            CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuda().cuDeviceGetP2PAttribute(nullptr, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1),
            CUDA_ERROR_INVALID_VALUE);
}

class PeersOfOneDevice : public WithContext {};

TEST_F(PeersOfOneDevice, PeerCopiesWorkWithinAContext) {
  const DeviceBuffer a(kBytes);
  const DeviceBuffer b(kBytes);
  PinnedBuffer to(kBytes);
  FERRY_OK(cuda().cuMemsetD8_v2(a.address, 0x53, kBytes));
  FERRY_OK(cuda().cuMemcpyPeer(b.address, context, a.address, context, kBytes));
  FERRY_OK(cuda().cuMemcpyDtoH_v2(to.pointer, b.address, kBytes));
  EXPECT_TRUE(to.holds(0x53));
}

TEST_F(PeersOfOneDevice, AContextIsNoPeerOfItself) {
  EXPECT_EQ(cuda().cuCtxEnablePeerAccess(context, 0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuda().cuCtxEnablePeerAccess(nullptr, 0), CUDA_ERROR_INVALID_CONTEXT);
  int can = 1;
  FERRY_OK(cuda().cuDeviceCanAccessPeer(&can, device, device));
  EXPECT_EQ(can, 0);
  EXPECT_EQ(cuda().cuDeviceCanAccessPeer(&can, device, 1000), CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace
}  // namespace ferry::conformance
