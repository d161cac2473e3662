// SPDX-License-Identifier: Apache-2.0
// Managed memory, pitched memory, and the small calls about contexts, streams and events.
#include "conformance/managed_fixture.hpp"

namespace ferry::conformance {
namespace {

class Managed : public WithManagedMemory {
 protected:
  Managed() : WithManagedMemory(kBytes) {}
  static constexpr std::size_t kBytes = 8192;
};

TEST_F(Managed, HostAndDeviceUseOneAddress) {
  auto* const words = reinterpret_cast<std::uint32_t*>(memory);
  words[0] = 0;
  FERRY_OK(cuda().cuMemsetD32_v2(memory, 0x11223344, kBytes / 4));
  FERRY_OK(cuda().cuCtxSynchronize());
  EXPECT_EQ(words[0], 0x11223344U);
  EXPECT_EQ(words[kBytes / 4 - 1], 0x11223344U);
  const DeviceBuffer buffer(4);
  words[1] = 99;
  FERRY_OK(cuda().cuMemcpy(buffer.address, memory + 4, 4));
  std::uint32_t back = 0;
  FERRY_OK(cuda().cuMemcpyDtoH_v2(&back, buffer.address, 4));
  EXPECT_EQ(back, 99U);
}

TEST_F(Managed, PointersTellThatTheyAreManaged) {
  bool managed = false;
  FERRY_OK(cuda().cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory));
  EXPECT_TRUE(managed);
  unsigned type = 0;
  FERRY_OK(cuda().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
  EXPECT_EQ(type, unsigned{CU_MEMORYTYPE_DEVICE});
  CUdeviceptr on_device = 0;
  FERRY_OK(cuda().cuPointerGetAttribute(&on_device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, memory));
  EXPECT_EQ(on_device, memory);
  void* on_host = nullptr;
  FERRY_OK(cuda().cuPointerGetAttribute(&on_host, CU_POINTER_ATTRIBUTE_HOST_POINTER, memory));
  EXPECT_EQ(on_host, reinterpret_cast<void*>(memory));
  const DeviceBuffer plain(4096);
  FERRY_OK(cuda().cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, plain.address));
  EXPECT_FALSE(managed);
}

TEST_F(Managed, AdviceAndPrefetchesAreForManagedMemory) {
  const StreamOwner stream;
  const DeviceBuffer plain(4096);
  CUmemLocation here{};
  here.type = CU_MEM_LOCATION_TYPE_DEVICE;
  here.id = device;
  FERRY_OK(cuda().cuMemAdvise_v2(memory, kBytes, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here));
  FERRY_OK(cuda().cuMemPrefetchAsync_v2(memory, kBytes, here, 0, stream.handle));
  FERRY_OK(cuda().cuMemPrefetchAsync(memory, kBytes, CU_DEVICE_CPU, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_EQ(cuda().cuMemAdvise_v2(plain.address, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemPrefetchAsync_v2(memory, kBytes, here, 1, stream.handle),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Managed, AllocationsAreChecked) {
  CUdeviceptr none = 0;
  EXPECT_EQ(cuda().cuMemAllocManaged(&none, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemAllocManaged(&none, 4096, CU_MEM_ATTACH_SINGLE), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemFreeHost(reinterpret_cast<void*>(memory)), CUDA_ERROR_INVALID_VALUE)
      << "managed memory goes back by cuMemFree";
}

class Small : public WithContext {};

TEST_F(Small, PitchedMemoryHoldsItsRows) {
  CUdeviceptr memory = 0;
  std::size_t pitch = 0;
  FERRY_OK(cuda().cuMemAllocPitch_v2(&memory, &pitch, 100, 7, 4));
  EXPECT_GE(pitch, 100U);
  int alignment = 0;
  FERRY_OK(cuda().cuDeviceGetAttribute(&alignment, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, device));
  EXPECT_EQ(pitch % static_cast<std::size_t>(alignment), 0U);
  FERRY_OK(cuda().cuMemsetD2D8_v2(memory, pitch, 1, 100, 7));
  FERRY_OK(cuda().cuCtxSynchronize());
  FERRY_OK(cuda().cuMemFree_v2(memory));
  EXPECT_EQ(cuda().cuMemAllocPitch_v2(&memory, &pitch, 100, 7, 3), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemAllocPitch_v2(&memory, &pitch, 0, 7, 4), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Small, DevicesAreFoundByTheirBusId) {
  char name[32] = {};
  FERRY_OK(cuda().cuDeviceGetPCIBusId(name, sizeof name, device));
  CUdevice found = -1;
  FERRY_OK(cuda().cuDeviceGetByPCIBusId(&found, name));
  EXPECT_EQ(found, device);
  FERRY_OK(cuda().cuDeviceGetByPCIBusId(&found, std::string(name).substr(5).c_str()))
      << "without the domain";
  EXPECT_EQ(found, device);
  EXPECT_EQ(cuda().cuDeviceGetByPCIBusId(&found, "ffff:ff:1f.7"), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuda().cuDeviceGetByPCIBusId(nullptr, name), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Small, IdsTellStreamsAndContextsApart) {
  const StreamOwner a;
  const StreamOwner b;
  unsigned long long first = 0;
  unsigned long long second = 0;
  FERRY_OK(cuda().cuStreamGetId(a.handle, &first));
  FERRY_OK(cuda().cuStreamGetId(b.handle, &second));
  EXPECT_NE(first, second);
  FERRY_OK(cuda().cuStreamGetId(nullptr, &first));
  FERRY_OK(cuda().cuStreamGetId(CU_STREAM_LEGACY, &second));
  EXPECT_EQ(first, second);
  FERRY_OK(cuda().cuCtxGetId(nullptr, &first));
  FERRY_OK(cuda().cuCtxGetId(context, &second));
  EXPECT_EQ(first, second) << "null is the current one";
}

TEST_F(Small, StreamsKnowTheirDevice) {
  if (cuda().cuStreamGetDevice == nullptr) GTEST_SKIP();
  const StreamOwner stream;
  CUdevice found = -1;
  FERRY_OK(cuda().cuStreamGetDevice(stream.handle, &found));
  EXPECT_EQ(found, device);
}

TEST_F(Small, RecordingWithFlagsRecords) {
  const StreamOwner stream;
  const EventOwner event;
  FERRY_OK(cuda().cuEventRecordWithFlags(event.handle, stream.handle, CU_EVENT_RECORD_DEFAULT));
  FERRY_OK(cuda().cuEventSynchronize(event.handle));
  EXPECT_EQ(cuda().cuEventRecordWithFlags(event.handle, stream.handle, CU_EVENT_RECORD_EXTERNAL),
            CUDA_ERROR_INVALID_VALUE)
      << "external records are for captures";
}

TEST_F(Small, LimitsAreSetAndAsked) {
  std::size_t value = 0;
  FERRY_OK(cuda().cuCtxGetLimit(&value, CU_LIMIT_PRINTF_FIFO_SIZE));
  EXPECT_GT(value, 0U);
  FERRY_OK(cuda().cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, value));
  EXPECT_EQ(cuda().cuCtxGetLimit(&value, CU_LIMIT_MAX), CUDA_ERROR_UNSUPPORTED_LIMIT);
  unsigned version = 0;
  FERRY_OK(cuda().cuCtxGetApiVersion(context, &version));
  EXPECT_GE(version, 3020U);
}

TEST_F(Small, ContextsTakeFlags) {
  unsigned before = 0;
  FERRY_OK(cuda().cuCtxGetFlags(&before));
  EXPECT_EQ(cuda().cuCtxSetFlags(0x40000000), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Small, CallbacksGetTheirStreamAndSuccess) {
  struct Seen {
    CUstream stream = nullptr;
    CUresult status = CUDA_ERROR_UNKNOWN;
    CUresult nested = CUDA_SUCCESS;
  } seen;
  const StreamOwner stream;
  FERRY_OK(cuda().cuStreamAddCallback(
      stream.handle,
      [](CUstream its, CUresult status, void* data) {
        CUdeviceptr address = 0;
        *static_cast<Seen*>(data) = {its, status, cuda().cuMemAlloc_v2(&address, 4096)};
      },
      &seen, 0));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_EQ(seen.stream, stream.handle);
  EXPECT_EQ(seen.status, CUDA_SUCCESS);
  EXPECT_EQ(seen.nested, CUDA_ERROR_NOT_PERMITTED);
  EXPECT_EQ(cuda().cuStreamAddCallback(stream.handle, nullptr, nullptr, 0),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Small, AContextWaitsForAnEvent) {
  if (cuda().cuCtxWaitEvent == nullptr) GTEST_SKIP();
  const StreamOwner first;
  const EventOwner event;
  const DeviceBuffer buffer(kMiB);
  PinnedBuffer to(kMiB);
  FERRY_OK(cuda().cuMemsetD8Async(buffer.address, 0x61, kMiB, first.handle));
  FERRY_OK(cuda().cuEventRecord(event.handle, first.handle));
  const StreamOwner old_one;
  FERRY_OK(cuda().cuCtxWaitEvent(context, event.handle));
  const StreamOwner new_one;
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, buffer.address, kMiB / 2, old_one.handle));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.data() + kMiB / 2, buffer.address + kMiB / 2, kMiB / 2,
                                       new_one.handle));
  FERRY_OK(cuda().cuStreamSynchronize(old_one.handle));
  FERRY_OK(cuda().cuStreamSynchronize(new_one.handle));
  EXPECT_TRUE(to.holds(0x61));
}

}  // namespace
}  // namespace ferry::conformance
