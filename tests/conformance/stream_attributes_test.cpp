// SPDX-License-Identifier: Apache-2.0
// Attributes of streams, settings of contexts, and other small calls that programs make on their
// way.
#include "conformance/fixture.hpp"

namespace ferry::conformance {
namespace {

class StreamAttributes : public WithContext {};

TEST_F(StreamAttributes, AreSetAskedAndCopied) {
  const StreamOwner first;
  const StreamOwner second;
  CUstreamAttrValue value{};
  FERRY_OK(cuda().cuStreamGetAttribute(first.handle, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY,
                                       &value));
  EXPECT_EQ(value.syncPolicy, CU_SYNC_POLICY_AUTO);
  value.syncPolicy = CU_SYNC_POLICY_YIELD;
  FERRY_OK(cuda().cuStreamSetAttribute(first.handle, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY,
                                       &value));
  value.syncPolicy = CU_SYNC_POLICY_SPIN;
  FERRY_OK(cuda().cuStreamGetAttribute(first.handle, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY,
                                       &value));
  EXPECT_EQ(value.syncPolicy, CU_SYNC_POLICY_YIELD);
  FERRY_OK(cuda().cuStreamGetAttribute(second.handle, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY,
                                       &value));
  EXPECT_EQ(value.syncPolicy, CU_SYNC_POLICY_AUTO);
  FERRY_OK(cuda().cuStreamCopyAttributes(second.handle, first.handle));
  FERRY_OK(cuda().cuStreamGetAttribute(second.handle, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY,
                                       &value));
  EXPECT_EQ(value.syncPolicy, CU_SYNC_POLICY_YIELD);
}

TEST_F(StreamAttributes, WhatStreamsDoNotHaveIsRefused) {
  const StreamOwner stream;
  CUstreamAttrValue value{};
  EXPECT_EQ(cuda().cuStreamGetAttribute(stream.handle, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuStreamSetAttribute(stream.handle, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
            CUDA_ERROR_INVALID_VALUE);
}

class ContextSettings : public WithContext {};

TEST_F(ContextSettings, ThePreferredCacheIsKept) {
  CUfunc_cache before{};
  FERRY_OK(cuda().cuCtxGetCacheConfig(&before));
  FERRY_OK(cuda().cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_SHARED));
  FERRY_OK(cuda().cuCtxSetCacheConfig(before));
  EXPECT_EQ(cuda().cuCtxGetCacheConfig(nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ContextSettings, BanksHaveASize) {
  if (cuda().cuCtxGetSharedMemConfig == nullptr) GTEST_SKIP() << "deprecated";
  CUsharedconfig config{};
  FERRY_OK(cuda().cuCtxGetSharedMemConfig(&config));
  EXPECT_NE(config, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE);
  FERRY_OK(cuda().cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE));
}

TEST_F(ContextSettings, DevicesTellTheirCapability) {
  if (cuda().cuDeviceComputeCapability == nullptr) GTEST_SKIP() << "deprecated";
  int major = 0;
  int minor = -1;
  FERRY_OK(cuda().cuDeviceComputeCapability(&major, &minor, device));
  int wanted = 0;
  FERRY_OK(
      cuda().cuDeviceGetAttribute(&wanted, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  EXPECT_EQ(major, wanted);
  FERRY_OK(
      cuda().cuDeviceGetAttribute(&wanted, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  EXPECT_EQ(minor, wanted);
  CUdevprop properties{};
  FERRY_OK(cuda().cuDeviceGetProperties(&properties, device));
  EXPECT_EQ(properties.SIMDWidth, 32);
  FERRY_OK(cuda().cuDeviceGetAttribute(&wanted, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device));
  EXPECT_EQ(properties.maxThreadsPerBlock, wanted);
}

TEST_F(ContextSettings, AnAttachedContextOutlivesItsFirstDetach) {
  if (cuda().cuCtxAttach == nullptr) GTEST_SKIP() << "deprecated";
  CUcontext created = nullptr;
  FERRY_OK(cuda().cuCtxCreate_v2(&created, 0, device));
  CUcontext attached = nullptr;
  FERRY_OK(cuda().cuCtxAttach(&attached, 0));
  EXPECT_EQ(attached, created);
  EXPECT_EQ(cuda().cuCtxAttach(&attached, 1), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuda().cuCtxDetach(created));
  FERRY_OK(cuda().cuCtxSynchronize());
  FERRY_OK(cuda().cuCtxDetach(created));
  CUcontext current = nullptr;
  FERRY_OK(cuda().cuCtxGetCurrent(&current));
  EXPECT_EQ(current, context) << "it was destroyed, and the one before is current";
}

TEST_F(ContextSettings, AProfilerIsToldWhereToLook) {
  if (cuda().cuProfilerStart == nullptr) GTEST_SKIP();
  FERRY_OK(cuda().cuProfilerStart());
  FERRY_OK(cuda().cuProfilerStop());
}

}  // namespace
}  // namespace ferry::conformance
