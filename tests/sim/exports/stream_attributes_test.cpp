// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsStreamAttributesTest : public SimTest {
 protected:
  static CUstreamAttrValue get(CUstream stream, CUstreamAttrID attribute) {
    CUstreamAttrValue value{};
    EXPECT_EQ(cuStreamGetAttribute(stream, attribute, &value), CUDA_SUCCESS);
    return value;
  }
};

TEST_F(ExportsStreamAttributesTest, ThePriorityIsThatOfTheStream) {
  CUstream urgent = nullptr;
  FERRY_OK(cuStreamCreateWithPriority(&urgent, 0, -3));
  EXPECT_EQ(get(urgent, CU_STREAM_ATTRIBUTE_PRIORITY).priority, -3);
  CUstreamAttrValue value{};
  value.priority = -1;
  FERRY_OK(cuStreamSetAttribute(urgent, CU_STREAM_ATTRIBUTE_PRIORITY, &value));
  int priority = 0;
  FERRY_OK(cuStreamGetPriority(urgent, &priority));
  EXPECT_EQ(priority, -1);
  value.priority = 1;
  EXPECT_EQ(cuStreamSetAttribute(urgent, CU_STREAM_ATTRIBUTE_PRIORITY, &value),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsStreamAttributesTest, WindowsAreChecked) {
  CUstreamAttrValue value{};
  value.accessPolicyWindow.num_bytes = 4096;
  value.accessPolicyWindow.hitRatio = 0.5F;
  value.accessPolicyWindow.hitProp = CU_ACCESS_PROPERTY_PERSISTING;
  FERRY_OK(cuStreamSetAttribute(nullptr, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
  EXPECT_EQ(
      get(CU_STREAM_LEGACY, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW).accessPolicyWindow.num_bytes,
      4096U)
      << "null is the legacy stream";
  EXPECT_EQ(get(CU_STREAM_PER_THREAD, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW)
                .accessPolicyWindow.num_bytes,
            0U);
  value.accessPolicyWindow.hitRatio = 1.5F;
  EXPECT_EQ(cuStreamSetAttribute(nullptr, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value),
            CUDA_ERROR_INVALID_VALUE);
  value.accessPolicyWindow.hitRatio = 1;
  value.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_PERSISTING;
  EXPECT_EQ(cuStreamSetAttribute(nullptr, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsStreamAttributesTest, TheVariantsForThreadsUseTheThreadsStream) {
  CUstreamAttrValue value{};
  value.syncPolicy = CU_SYNC_POLICY_SPIN;
  FERRY_OK(cuStreamSetAttribute_ptsz(nullptr, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  EXPECT_EQ(get(CU_STREAM_PER_THREAD, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY).syncPolicy,
            CU_SYNC_POLICY_SPIN);
  EXPECT_EQ(get(nullptr, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY).syncPolicy,
            CU_SYNC_POLICY_AUTO);
  FERRY_OK(cuStreamCopyAttributes_ptsz(CU_STREAM_LEGACY, nullptr));
  FERRY_OK(cuStreamGetAttribute_ptsz(CU_STREAM_LEGACY, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY,
                                     &value));
  EXPECT_EQ(value.syncPolicy, CU_SYNC_POLICY_SPIN);
}

TEST_F(ExportsStreamAttributesTest, BetweenContextsNothingIsCopied) {
  const CUstream ours = stream();
  CUcontext other = nullptr;
  FERRY_OK(cuCtxCreate_v2(&other, 0, 0));
  const CUstream theirs = stream();
  EXPECT_EQ(cuStreamCopyAttributes(theirs, ours), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamCopyAttributes(reinterpret_cast<CUstream>(0x77), theirs),
            CUDA_ERROR_INVALID_HANDLE);
  FERRY_OK(cuCtxDestroy_v2(other));
}

}  // namespace
}  // namespace ferry::sim
