// SPDX-License-Identifier: Apache-2.0
// Ranges of managed memory on two devices; the conformance suite judges the rest.
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsMemoryRangeTest : public SimTest {
 protected:
  static constexpr std::size_t kBytes = 4 * 4096;

  void SetUp() override {
    restart("devices=2");
    FERRY_OK(cuMemAllocManaged(&memory, kBytes, CU_MEM_ATTACH_GLOBAL));
  }
  int get(CUmem_range_attribute attribute, std::size_t bytes = kBytes) const {
    int value = -9;
    EXPECT_EQ(cuMemRangeGetAttribute(&value, sizeof value, attribute, memory, bytes), CUDA_SUCCESS);
    return value;
  }

  CUdeviceptr memory = 0;
};

TEST_F(ExportsMemoryRangeTest, PartsThatDifferHaveNoPlaceInCommon) {
  FERRY_OK(cuMemAdvise(memory, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 0));
  FERRY_OK(cuMemAdvise(memory + 4096, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 1));
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, 4096), 0);
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, 8192), int{CU_DEVICE_INVALID});
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, 8192),
            int{CU_MEM_LOCATION_TYPE_INVALID});
}

TEST_F(ExportsMemoryRangeTest, WhoHasAccessMustHaveItToAll) {
  FERRY_OK(cuMemAdvise(memory, kBytes, CU_MEM_ADVISE_SET_ACCESSED_BY, 1));
  FERRY_OK(cuMemAdvise(memory, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, 0));
  int devices[3] = {};
  FERRY_OK(cuMemRangeGetAttribute(devices, sizeof devices, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
                                  memory, kBytes));
  EXPECT_EQ(devices[0], 1);
  EXPECT_EQ(devices[1], int{CU_DEVICE_INVALID});
  FERRY_OK(cuMemRangeGetAttribute(devices, sizeof devices, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
                                  memory, 4096));
  EXPECT_EQ(devices[0] + devices[1], 1) << "both";
  EXPECT_EQ(devices[2], int{CU_DEVICE_INVALID});
}

TEST_F(ExportsMemoryRangeTest, MemoryThatIsGoneHasNoAdvice) {
  FERRY_OK(cuMemAdvise(memory, kBytes, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 1);
  FERRY_OK(cuMemFree_v2(memory));
  int value = 0;
  EXPECT_EQ(cuMemRangeGetAttribute(&value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory,
                                   kBytes),
            CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr again = 0;
  FERRY_OK(cuMemAllocManaged(&again, kBytes, CU_MEM_ATTACH_GLOBAL));
  std::swap(memory, again);
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0) << "wherever it lies";
}

}  // namespace
}  // namespace ferry::sim
