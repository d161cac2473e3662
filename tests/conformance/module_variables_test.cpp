// SPDX-License-Identifier: Apache-2.0
// Variables of modules and libraries, and the list of the functions in them: PTX that any driver
// compiles.
#include <algorithm>
#include <array>
#include <string>

#include "conformance/fixture.hpp"

namespace ferry::conformance {
namespace {

constexpr const char* kPtx =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .global .align 4 .u32 table[4] = {1, 2, 3};\n"
    ".visible .const .align 8 .f64 factors[2] = {0d3FF8000000000000, 0d4000000000000000};\n"
    ".visible .global .align 4 .b8 room[1024];\n"
    ".visible .global .attribute(.managed) .align 4 .u32 everywhere = 9;\n"
    ".visible .entry first()\n{\n  ret;\n}\n.visible .entry second()\n{\n  ret;\n}\n";

struct Variable {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
};

class ModuleVariables : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    FERRY_OK(cuda().cuModuleLoadData(&module, kPtx));
  }
  void TearDown() override {
    if (module != nullptr) {
      EXPECT_EQ(cuda().cuModuleUnload(module), CUDA_SUCCESS);
    }
    WithContext::TearDown();
  }
  Variable find(const char* name) {
    Variable found;
    EXPECT_EQ(cuda().cuModuleGetGlobal_v2(&found.address, &found.bytes, module, name), CUDA_SUCCESS)
        << name;
    return found;
  }

  CUmodule module = nullptr;
};

TEST_F(ModuleVariables, AreWrittenAsExpressionsOfConstants) {
  CUmodule other = nullptr;
  FERRY_OK(cuda().cuModuleLoadData(
      &other,
      ".version 7.0\n.target sm_50\n.address_size 64\n"
      ".visible .global .u32 sums[7] = {1+2, 1 << 4, ~0, (3*4), -(3), (.u64) 5, 5==5 ? 8 : 9};\n"
      ".visible .global .f32 small = 1.5e-3;\n.visible .global .b8 octal[010];\n"
      ".visible.global .u64 places[2] = {sums, 7};\n"));
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  std::array<int, 7> sums{};
  FERRY_OK(cuda().cuModuleGetGlobal_v2(&address, &bytes, other, "sums"));
  FERRY_OK(cuda().cuMemcpyDtoH_v2(sums.data(), address, sizeof sums));
  EXPECT_EQ(sums, (std::array<int, 7>{3, 16, -1, 12, -3, 5, 8}));
  float small = 0;
  FERRY_OK(cuda().cuModuleGetGlobal_v2(&address, &bytes, other, "small"));
  FERRY_OK(cuda().cuMemcpyDtoH_v2(&small, address, sizeof small));
  EXPECT_EQ(small, 1.5e-3F);
  FERRY_OK(cuda().cuModuleGetGlobal_v2(&address, &bytes, other, "octal"));
  EXPECT_EQ(bytes, 8U);
  std::array<std::uint64_t, 2> places{};
  FERRY_OK(cuda().cuModuleGetGlobal_v2(&address, &bytes, other, "places"));
  FERRY_OK(cuda().cuMemcpyDtoH_v2(places.data(), address, sizeof places));
  EXPECT_EQ(places[1], 7U);
  FERRY_OK(cuda().cuModuleUnload(other));
}

TEST_F(ModuleVariables, HaveTheirSizesAndFirstValues) {
  EXPECT_EQ(find("counter").bytes, 4U);
  EXPECT_EQ(read_word(find("counter").address), 7U);
  EXPECT_EQ(find("table").bytes, 16U);
  std::array<unsigned, 4> words{};
  FERRY_OK(cuda().cuMemcpyDtoH_v2(words.data(), find("table").address, sizeof words));
  EXPECT_EQ(words, (std::array<unsigned, 4>{1, 2, 3, 0}));
  std::array<double, 2> factors{};
  EXPECT_EQ(find("factors").bytes, sizeof factors);
  FERRY_OK(cuda().cuMemcpyDtoH_v2(factors.data(), find("factors").address, sizeof factors));
  EXPECT_EQ(factors, (std::array<double, 2>{1.5, 2.0}));
  EXPECT_EQ(find("room").bytes, 1024U);
  EXPECT_EQ(read_word(find("room").address + 1020), 0U) << "what is not given is zero";
}

TEST_F(ModuleVariables, AreMemory) {
  const StreamOwner stream;
  const Variable room = find("room");
  PinnedBuffer to(1024);
  FERRY_OK(cuda().cuMemsetD8Async(room.address, 0x41, 1024, stream.handle));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, room.address, 1024, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(to.holds(0x41));
  EXPECT_EQ(find("room").address, room.address) << "the same each time";
  EXPECT_EQ(cuda().cuMemFree_v2(room.address), CUDA_ERROR_INVALID_VALUE)
      << "it goes with its module";
  unsigned type = 0;
  FERRY_OK(cuda().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, room.address));
  EXPECT_EQ(type, unsigned{CU_MEMORYTYPE_DEVICE});
}

TEST_F(ModuleVariables, AModuleLoadedAgainHasItsOwn) {
  FERRY_OK(cuda().cuMemsetD32_v2(find("counter").address, 1, 1));
  CUmodule again = nullptr;
  FERRY_OK(cuda().cuModuleLoadData(&again, kPtx));
  CUdeviceptr address = 0;
  FERRY_OK(cuda().cuModuleGetGlobal_v2(&address, nullptr, again, "counter"));
  EXPECT_NE(address, find("counter").address);
  EXPECT_EQ(read_word(address), 7U);
  FERRY_OK(cuda().cuModuleUnload(again));
}

TEST_F(ModuleVariables, WhatIsNotThereIsNotFound) {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  EXPECT_EQ(cuda().cuModuleGetGlobal_v2(&address, &bytes, module, "nobody"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuda().cuModuleGetGlobal_v2(&address, &bytes, module, "count"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuda().cuModuleGetGlobal_v2(&address, &bytes, module, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuda().cuModuleGetGlobal_v2(nullptr, &bytes, module, "room"));
  EXPECT_EQ(bytes, 1024U);
  CUfunction function = nullptr;
  EXPECT_EQ(cuda().cuModuleGetFunction(&function, module, "counter"), CUDA_ERROR_NOT_FOUND)
      << "a variable is no function";
}

TEST_F(ModuleVariables, FunctionsAreCountedAndListed) {
  if (cuda().cuModuleGetFunctionCount == nullptr) GTEST_SKIP();
  unsigned count = 0;
  FERRY_OK(cuda().cuModuleGetFunctionCount(&count, module));
  EXPECT_EQ(count, 2U);
  std::array<CUfunction, 3> functions{};
  FERRY_OK(cuda().cuModuleEnumerateFunctions(functions.data(), 2, module));
  EXPECT_EQ(functions[2], nullptr);
  std::array<std::string, 2> names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const char* name = nullptr;
    FERRY_OK(cuda().cuFuncGetName(&name, functions[i]));
    names[i] = name;
  }
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::array<std::string, 2>{"first", "second"}));
  EXPECT_EQ(cuda().cuModuleGetFunctionCount(nullptr, module), CUDA_ERROR_INVALID_VALUE);
}

class LibraryVariables : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    FERRY_OK(cuda().cuLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  }
  void TearDown() override {
    EXPECT_EQ(cuda().cuLibraryUnload(library), CUDA_SUCCESS);
    WithContext::TearDown();
  }

  CUlibrary library = nullptr;
};

TEST_F(LibraryVariables, AreThoseOfTheModuleOfTheContext) {
  Variable of_library;
  FERRY_OK(cuda().cuLibraryGetGlobal(&of_library.address, &of_library.bytes, library, "counter"));
  EXPECT_EQ(of_library.bytes, 4U);
  EXPECT_EQ(read_word(of_library.address), 7U);
  CUmodule module = nullptr;
  FERRY_OK(cuda().cuLibraryGetModule(&module, library));
  CUdeviceptr of_module = 0;
  FERRY_OK(cuda().cuModuleGetGlobal_v2(&of_module, nullptr, module, "counter"));
  EXPECT_EQ(of_module, of_library.address);
  EXPECT_EQ(cuda().cuLibraryGetGlobal(&of_module, nullptr, library, "nobody"),
            CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuda().cuModuleUnload(module), CUDA_ERROR_NOT_PERMITTED);
}

TEST_F(LibraryVariables, ManagedOnesAreTheHostsToo) {
  int has = 0;
  FERRY_OK(
      cuda().cuDeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, device));
  if (has == 0) GTEST_SKIP() << "the device has no concurrent managed access";
  CUmodule module = nullptr;
  FERRY_OK(cuda().cuLibraryGetModule(&module, library));  // loads it into the context
  Variable found;
  FERRY_OK(cuda().cuLibraryGetManaged(&found.address, &found.bytes, library, "everywhere"));
  EXPECT_EQ(found.bytes, 4U);
  auto* const word = reinterpret_cast<std::uint32_t*>(found.address);
  EXPECT_EQ(*word, 9U);
  FERRY_OK(cuda().cuMemsetD32_v2(found.address, 5, 1));
  FERRY_OK(cuda().cuCtxSynchronize());
  EXPECT_EQ(*word, 5U);
  EXPECT_EQ(cuda().cuLibraryGetManaged(&found.address, nullptr, library, "counter"),
            CUDA_ERROR_NOT_FOUND);
}

TEST_F(LibraryVariables, KernelsAreCountedAndListed) {
  if (cuda().cuLibraryGetKernelCount == nullptr) GTEST_SKIP();
  unsigned count = 0;
  FERRY_OK(cuda().cuLibraryGetKernelCount(&count, library));
  EXPECT_EQ(count, 2U);
  std::array<CUkernel, 2> kernels{};
  FERRY_OK(cuda().cuLibraryEnumerateKernels(kernels.data(), 2, library));
  CUkernel first = nullptr;
  FERRY_OK(cuda().cuLibraryGetKernel(&first, library, "first"));
  EXPECT_TRUE(kernels[0] == first || kernels[1] == first);
  EXPECT_NE(kernels[0], kernels[1]);
}

TEST_F(LibraryVariables, NoFunctionIsUnified) {
  int has = 0;
  FERRY_OK(
      cuda().cuDeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS, device));
  if (has != 0) GTEST_SKIP() << "the device may have some";
  void* function = nullptr;
  EXPECT_EQ(cuda().cuLibraryGetUnifiedFunction(&function, library, "first"), CUDA_ERROR_NOT_FOUND);
}

}  // namespace
}  // namespace ferry::conformance
