// SPDX-License-Identifier: Apache-2.0
// Variables as memory of the machine: whose it is, when it goes, what the hazard checker and a
// registered kernel see of it.
#include "sim/machine/module_variables.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "sim/sim_fixture.hpp"
#include "sim/words/made_cubin.hpp"

namespace ferry::sim {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPtx =
    ".version 7.0\n.target sm_50\n.visible .global .align 4 .u32 counter[4] = {7, 8};\n"
    ".visible .global .align 4 .b8 large[8388608];\n"
    ".visible .global .attribute(.managed) .u32 everywhere = 9;\n"
    ".visible .entry count() { ret; }\n";

class ModuleVariablesTest : public SimTest {
 protected:
  void SetUp() override { start("schedule=lazy"); }
  void start(const std::string& settings) {
    restart(settings);
    FERRY_OK(cuModuleLoadData(&module, kPtx));
  }
  static CUdeviceptr find(CUmodule where, const char* name) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuModuleGetGlobal_v2(&address, nullptr, where, name), CUDA_SUCCESS) << name;
    return address;
  }
  CUdeviceptr find(const char* name) { return find(module, name); }

  CUmodule module = nullptr;
};

TEST_F(ModuleVariablesTest, MemoryIsTakenWhenItIsAskedForAndGoesWithTheModule) {
  EXPECT_EQ(ferry_sim_memory_in_use(0), 0U);
  const CUdeviceptr large = find("large");
  EXPECT_EQ(ferry_sim_memory_in_use(0), 8 * kMiB);
  EXPECT_EQ(peek(large + 8 * kMiB - 4), 0U);
  FERRY_OK(cuModuleUnload(module));
  EXPECT_EQ(ferry_sim_memory_in_use(0), 0U);
  EXPECT_EQ(cuMemsetD8_v2(large, 1, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS) << "its address leads nowhere";
}

TEST_F(ModuleVariablesTest, WhereThereIsNoMemoryTheCallSaysSo) {
  start("capacity=6MiB");
  CUdeviceptr address = 0;
  EXPECT_EQ(cuModuleGetGlobal_v2(&address, nullptr, module, "large"), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(peek(find("counter") + 4), 8U);
}

TEST_F(ModuleVariablesTest, TheyGoWithTheirContext) {
  find("large");
  const CUdeviceptr everywhere = find("everywhere");
  FERRY_OK(cuDevicePrimaryCtxReset_v2(0));
  EXPECT_EQ(ferry_sim_memory_in_use(0), 0U);
  bool managed = true;
  EXPECT_EQ(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, everywhere),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ModuleVariablesTest, UnloadingInFlightIsAHazard) {
  FERRY_OK(cuMemsetD32Async(find("counter"), 1, 4, stream()));
  FERRY_OK(cuModuleUnload(module));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_F(ModuleVariablesTest, WorkInFlightStillFindsItsMemory) {
  start("schedule=lazy");
  FERRY_OK(cuMemsetD32Async(find("counter"), 1, 1, stream()));
  FERRY_OK(cuModuleUnload(module));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
  FERRY_OK(cuCtxSynchronize());
}

TEST_F(ModuleVariablesTest, ReportsKnowThemByTheirName) {
  const CUdeviceptr counter = find("counter");
  std::string name;
  Library::get().with_machine([&](Lock&, Machine& machine) {
    const Mapping* const mapping = machine.pages.find(counter);
    if (mapping != nullptr && mapping->name != nullptr) name = *mapping->name;
  });
  EXPECT_EQ(name, "counter");
}

TEST_F(ModuleVariablesTest, ManagedOnesCannotBeFreedByHand) {
  const CUdeviceptr everywhere = find("everywhere");
  EXPECT_EQ(*reinterpret_cast<std::uint32_t*>(everywhere), 9U);
  EXPECT_EQ(cuMemFree_v2(everywhere), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuMemsetD32Async(everywhere, 1, 1, stream()));
  FERRY_OK(cuModuleUnload(module));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
  EXPECT_EQ(cuMemsetD32_v2(everywhere, 1, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ModuleVariablesTest, NoneCanBeFreedInTheOrderOfAStream) {
  const CUdeviceptr counter = find("counter");
  EXPECT_EQ(cuMemFreeAsync(counter, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeAsync(find("everywhere"), nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(counter), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(counter), 7U);
}

TEST_F(ModuleVariablesTest, WhoeverHasTheAddressOfOneThatIsGoneKeepsIt) {
  const CUdeviceptr large = find("large");
  Library::get().with_machine([&](Lock&, Machine& machine) {
    Mapping& mapping = *machine.pages.find(large);
    mapping.buffer_id += 1000;  // as if that one were gone and this another
    mapping.kind = Mapping::Kind::allocation;
  });
  FERRY_OK(cuModuleUnload(module));
  FERRY_OK(cuMemFree_v2(large));
}

TEST_F(ModuleVariablesTest, ALibraryHasOneInEachContextSaveWhereItIsManaged) {
  CUlibrary library = nullptr;
  FERRY_OK(cuLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  const auto of_library = [&](const char* name) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuLibraryGetGlobal(&address, nullptr, library, name), CUDA_SUCCESS);
    return address;
  };
  const CUdeviceptr counter = of_library("counter");
  const CUdeviceptr everywhere = of_library("everywhere");
  CUcontext other = nullptr;
  FERRY_OK(cuCtxCreate_v2(&other, 0, 0));
  EXPECT_NE(of_library("counter"), counter);
  EXPECT_EQ(of_library("everywhere"), everywhere);
  FERRY_OK(cuCtxDestroy_v2(other));
  EXPECT_EQ(*reinterpret_cast<std::uint32_t*>(everywhere), 9U) << "it belongs to no context";
  const std::uint64_t before = ferry_sim_memory_in_use(0);
  EXPECT_GT(before, 0U);
  FERRY_OK(cuMemsetD32Async(counter, 1, 1, stream()));
  FERRY_OK(cuMemsetD32Async(everywhere, 1, 1, stream()));
  FERRY_OK(cuLibraryUnload(library));
  EXPECT_EQ(ferry_sim_take_hazards(), 2U);
  EXPECT_EQ(ferry_sim_memory_in_use(0), 0U);
}

TEST_F(ModuleVariablesTest, APeerReachesThemOnceItMay) {
  start("devices=2");
  const CUdeviceptr counter = find("counter");
  CUcontext other = nullptr;
  FERRY_OK(cuCtxCreate_v2(&other, 0, 1));
  FERRY_OK(cuCtxEnablePeerAccess(context, 0));
  FERRY_OK(cuMemsetD32_v2(counter, 3, 1));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(counter), 3U);
  FERRY_OK(cuCtxDestroy_v2(other));
}

TEST_F(ModuleVariablesTest, CubinsAndFatbinsDeclareThemToo) {
  for (const std::string& image : {MadeCubin().file(), made_fatbin({MadeCubin().file()})}) {
    CUmodule binary = nullptr;
    FERRY_OK(cuModuleLoadData(&binary, image.data()));
    EXPECT_EQ(peek(find(binary, "begun")), 0x04030201U);
    EXPECT_EQ(peek(find(binary, "plain") + 4), 0U);
    CUfunction function = nullptr;
    FERRY_OK(cuModuleGetFunction(&function, binary, "scale"));
    EXPECT_EQ(cuModuleGetFunction(&function, binary, "helper"), CUDA_ERROR_NOT_FOUND);
    FERRY_OK(cuModuleUnload(binary));
  }
}

TEST_F(ModuleVariablesTest, OfAnImageThatCannotBeReadNothingIsKnownButWords) {
  const std::string image = made_fatbin({"\x28\xb5\x2f\xfd scale counter"});
  CUmodule compressed = nullptr;
  FERRY_OK(cuModuleLoadData(&compressed, image.data()));
  CUfunction function = nullptr;
  FERRY_OK(cuModuleGetFunction(&function, compressed, "scale"));
  CUdeviceptr address = 0;
  unsigned count = 0;
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuModuleGetGlobal_v2(&address, nullptr, compressed, "counter"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuModuleGetFunctionCount(&count, compressed), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("the variables of a module are not found"),
                    HasSubstr("the functions of a module are not counted")));
}

TEST_F(ModuleVariablesTest, AFirstValueThatIsNotKnownIsSaid) {
  CUmodule other = nullptr;
  FERRY_OK(cuModuleLoadData(&other,
                            ".version 7.0\n.target sm_50\n.visible .global .u32 sum = 1+2;\n"
                            ".visible .global .u64 pointer[2] = {sum, 3};\n"));
  testing::internal::CaptureStderr();
  EXPECT_EQ(peek(find(other, "sum")), 3U);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  EXPECT_EQ(peek(find(other, "pointer") + 8), 3U);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("of the first value of pointer a part is zero"));
  FERRY_OK(cuModuleUnload(other));
}

CUdeviceptr counted = 0;
std::size_t count_ranges(const ferry_sim_launch*, const void* const*, ferry_sim_range* out,
                         std::size_t) {
  out[0] = {counted, 4, 1};
  return 1;
}
void count_run(const ferry_sim_launch*, const void* const*, void* const* memory) {
  ++*static_cast<std::uint32_t*>(memory[0]);
}

TEST_F(ModuleVariablesTest, ARegisteredKernelUsesThemByTheirAddress) {
  const ferry_sim_kernel kernel{"count", 0, nullptr, count_ranges, count_run, nullptr};
  ASSERT_EQ(ferry_sim_register_kernel(&kernel), 0);
  counted = find("counter");
  CUfunction function = nullptr;
  FERRY_OK(cuModuleGetFunction(&function, module, "count"));
  FERRY_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(counted), 8U);
}

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  file >> all >> resident;
  return resident * 4096;
}

TEST_F(ModuleVariablesTest, OnlyWhatHasAValueIsWritten) {
  CUmodule other = nullptr;
  FERRY_OK(cuModuleLoadData(&other,
                            ".version 7.0\n.target sm_50\n"
                            ".visible .global .u32 vast[268435456] = {1, 2};\n"));
  const std::uint64_t before = resident_bytes();
  const CUdeviceptr vast = find(other, "vast");
  EXPECT_LT(resident_bytes() - before, 64 * kMiB);
  EXPECT_EQ(peek(vast + 4), 2U);
  EXPECT_EQ(peek(vast + 8), 0U);
  EXPECT_EQ(peek(vast + (std::uint64_t{1} << 30) - 4), 0U);
  const CUdeviceptr copy = allocate(4096);
  FERRY_OK(cuMemcpyDtoD_v2(copy, vast + kMiB, 4096));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(copy), 0U);
  FERRY_OK(cuMemFree_v2(copy));
  FERRY_OK(cuModuleUnload(other));
}

TEST_F(ModuleVariablesTest, WithoutDataTheyAreAllThere) {
  start("data=none");
  FERRY_OK(cuMemsetD32_v2(find("counter"), 1, 4));
  FERRY_OK(cuCtxSynchronize());
}

}  // namespace
}  // namespace ferry::sim
