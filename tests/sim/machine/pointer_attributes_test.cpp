// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/pointer_attributes.hpp"

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class PointerAttributesTest : public SimTest {
 protected:
  template <typename Value>
  static Value get(CUdeviceptr address, CUpointer_attribute attribute) {
    Value value{};
    EXPECT_EQ(cuPointerGetAttribute(&value, attribute, address), CUDA_SUCCESS) << attribute;
    return value;
  }
};

TEST_F(PointerAttributesTest, AReservationWithoutMemoryIsKnownButNotMapped) {
  CUdeviceptr base = 0;
  FERRY_OK(cuMemAddressReserve(&base, 4 * kMiB, 0, 0, 0));
  EXPECT_FALSE(get<bool>(base + 5, CU_POINTER_ATTRIBUTE_MAPPED));
  EXPECT_EQ(get<CUdeviceptr>(base + 5, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR), base);
  EXPECT_EQ(get<std::size_t>(base + 5, CU_POINTER_ATTRIBUTE_RANGE_SIZE), 4 * kMiB);
  unsigned type = 0;
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, base),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(PointerAttributesTest, SyncMemopsAreKeptForHostMemoryToo) {
  restart("schedule=lazy");
  const auto host = reinterpret_cast<std::uintptr_t>(allocate_host(4096));
  const unsigned on = 1;
  FERRY_OK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, host + 8));
  EXPECT_TRUE(get<bool>(host, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS));
  EXPECT_EQ(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, host + 4096),
            CUDA_ERROR_INVALID_VALUE);
  const CUdeviceptr memory = allocate(4096);
  FERRY_OK(cuMemsetD32_v2(memory, 1, 1));
  EXPECT_EQ(peek(memory), kUnwritten) << "a plain fill does not wait";
  FERRY_OK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
  EXPECT_EQ(peek(memory), 1U) << "what is queued has ended";
  FERRY_OK(cuMemsetD32_v2(memory, 2, 1));
  EXPECT_EQ(peek(memory), 2U);
  const unsigned off = 0;
  FERRY_OK(cuPointerSetAttribute(&off, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
  FERRY_OK(cuMemsetD32_v2(memory, 3, 1));
  EXPECT_EQ(peek(memory), 2U);
}

TEST_F(PointerAttributesTest, AMappingIsToldFromItsReservation) {
  CUdeviceptr base = 0;
  FERRY_OK(cuMemAddressReserve(&base, 8 * kMiB, 0, 0, 0));
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemGenericAllocationHandle handle = 0;
  FERRY_OK(cuMemCreate(&handle, 2 * kMiB, &prop, 0));
  FERRY_OK(cuMemMap(base + 2 * kMiB, 2 * kMiB, 0, handle, 0));
  const CUdeviceptr inner = base + 2 * kMiB + 77;
  EXPECT_EQ(get<CUdeviceptr>(inner, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR), base + 2 * kMiB);
  EXPECT_EQ(get<std::size_t>(inner, CU_POINTER_ATTRIBUTE_MAPPING_SIZE), 2 * kMiB);
  EXPECT_EQ(get<unsigned long long>(inner, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS), 0U);
  EXPECT_EQ(get<CUcontext>(inner, CU_POINTER_ATTRIBUTE_CONTEXT), nullptr)
      << "belongs to no context";
  CUmemAccessDesc description{prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  FERRY_OK(cuMemSetAccess(base + 2 * kMiB, 2 * kMiB, &description, 1));
  EXPECT_EQ(get<unsigned long long>(inner, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS), 3U);
}

TEST_F(PointerAttributesTest, TwoMappingsOfOneHandleShareTheBlockButNotTheBuffer) {
  CUdeviceptr base = 0;
  FERRY_OK(cuMemAddressReserve(&base, 4 * kMiB, 0, 0, 0));
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemGenericAllocationHandle handle = 0;
  FERRY_OK(cuMemCreate(&handle, 2 * kMiB, &prop, 0));
  FERRY_OK(cuMemMap(base, 2 * kMiB, 0, handle, 0));
  FERRY_OK(cuMemMap(base + 2 * kMiB, 2 * kMiB, 0, handle, 0));
  const auto block = CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID;
  EXPECT_EQ(get<std::uint64_t>(base, block), get<std::uint64_t>(base + 2 * kMiB, block));
  EXPECT_NE(get<std::uint64_t>(base, CU_POINTER_ATTRIBUTE_BUFFER_ID),
            get<std::uint64_t>(base + 2 * kMiB, CU_POINTER_ATTRIBUTE_BUFFER_ID));
}

TEST_F(PointerAttributesTest, DeniesFeaturesItDoesNotHave) {
  const CUdeviceptr address = allocate(4096);
  EXPECT_TRUE(get<bool>(address, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE));
  EXPECT_EQ(get<unsigned long long>(address, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES), 0U);
  EXPECT_EQ(get<CUmemoryPool>(address, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE), nullptr);
  std::uint64_t tokens[2] = {};
  EXPECT_EQ(cuPointerGetAttribute(tokens, CU_POINTER_ATTRIBUTE_P2P_TOKENS, address),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(PointerAttributesTest, ADevicePointerNeedsAContext) {
  const CUdeviceptr address = allocate(4096);
  FERRY_OK(cuCtxPopCurrent_v2(nullptr));
  CUdeviceptr seen = 0;
  EXPECT_EQ(cuPointerGetAttribute(&seen, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address),
            CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(get<int>(address, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL), 0);
}

TEST_F(PointerAttributesTest, SeveralAtOnceDefaultOnlyWhatIsMissing) {
  const CUdeviceptr address = allocate(4096);
  void* host = this;
  int ordinal = -1;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_HOST_POINTER,
                                      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* data[] = {&host, &ordinal};
  FERRY_OK(cuPointerGetAttributes(2, attributes, data, address));
  EXPECT_EQ(host, nullptr);
  EXPECT_EQ(ordinal, 0);
  attributes[0] = CU_POINTER_ATTRIBUTE_P2P_TOKENS;
  EXPECT_EQ(cuPointerGetAttributes(2, attributes, data, address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuPointerGetAttributes(0, attributes, data, address), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace ferry::sim
