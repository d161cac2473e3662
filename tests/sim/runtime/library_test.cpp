// SPDX-License-Identifier: Apache-2.0
// Code that a program loads itself, and the driver's functions by name.
#include <filesystem>
#include <fstream>

#include "sim/runtime/registered_program.hpp"

namespace ferry::sim::runtime_test {
namespace {

constexpr const char* kPtx =
    ".version 8.0\n.target sm_52\n.address_size 64\n"
    ".visible .global .align 4 .b8 counter[12];\n"
    ".visible .entry fill_words() { ret; }\n";

class RuntimeLibraryTest : public RuntimeTest {
 protected:
  void SetUp() override {
    restart("");
    FillWords::give_to_the_driver();
    FERRY_RT_OK(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  }

  cudaLibrary_t library = nullptr;
};

TEST_F(RuntimeLibraryTest, ItsKernelsAreLaunchedAsOthers) {
  unsigned count = 0;
  FERRY_RT_OK(cudaLibraryGetKernelCount(&count, library));
  EXPECT_EQ(count, 1U);
  cudaKernel_t kernel = nullptr;
  FERRY_RT_OK(cudaLibraryGetKernel(&kernel, library, "fill_words"));
  void* const memory = allocate(16);
  FillArguments arguments(memory, 4, 12);
  FERRY_RT_OK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(4),
                               arguments.all, 0, nullptr));
  EXPECT_EQ(word(memory, 3), 12U);
  const char* name = nullptr;
  FERRY_RT_OK(cudaFuncGetName(&name, reinterpret_cast<const void*>(kernel)));
  EXPECT_STREQ(name, "fill_words");
  FERRY_RT_OK(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              56 * 1024, 0));
  cudaFuncAttributes attributes{};
  FERRY_RT_OK(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 56 * 1024);
  EXPECT_EQ(cudaLibraryGetKernel(&kernel, library, "missing"), cudaErrorSymbolNotFound);
}

TEST_F(RuntimeLibraryTest, ItsVariables) {
  void* address = nullptr;
  std::size_t bytes = 0;
  FERRY_RT_OK(cudaLibraryGetGlobal(&address, &bytes, library, "counter"));
  EXPECT_EQ(bytes, 12U);
  FERRY_RT_OK(cudaMemset(address, 3, bytes));
  EXPECT_EQ(word(address, 2), 0x03030303U);
  EXPECT_EQ(cudaLibraryGetGlobal(&address, &bytes, library, "missing"), cudaErrorSymbolNotFound);
  EXPECT_EQ(cudaLibraryGetManaged(&address, &bytes, library, "missing"), cudaErrorSymbolNotFound);
}

TEST_F(RuntimeLibraryTest, AnUnloadedLibraryIsNone) {
  FERRY_RT_OK(cudaLibraryUnload(library));
  cudaKernel_t kernel = nullptr;
  EXPECT_NE(cudaLibraryGetKernel(&kernel, library, "fill_words"), cudaSuccess);
}

TEST_F(RuntimeLibraryTest, FromAFile) {
  const auto file = std::filesystem::path(testing::TempDir()) / "runtime_library_test.ptx";
  std::ofstream(file) << kPtx;
  cudaLibrary_t loaded = nullptr;
  FERRY_RT_OK(
      cudaLibraryLoadFromFile(&loaded, file.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  cudaKernel_t kernel = nullptr;
  FERRY_RT_OK(cudaLibraryGetKernel(&kernel, loaded, "fill_words"));
  std::filesystem::remove(file);
  EXPECT_EQ(
      cudaLibraryLoadFromFile(&loaded, file.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      cudaErrorFileNotFound);
  EXPECT_EQ(cudaLibraryLoadData(&loaded, "no code", nullptr, nullptr, 0, nullptr, nullptr, 0),
            cudaErrorInvalidKernelImage);
}

struct Answer {
  cudaError_t result = cudaErrorUnknown;
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointVersionNotSufficent;
};

Answer ask(const char* name, unsigned version, unsigned long long flags = cudaEnableDefault) {
  Answer answer;
  answer.function = &answer;
  answer.result =
      cudaGetDriverEntryPointByVersion(name, &answer.function, version, flags, &answer.status);
  return answer;
}

TEST_F(RuntimeLibraryTest, AFunctionOfTheDriverByItsName) {
  const Answer found = ask("cuMemAlloc", 12000);
  EXPECT_EQ(found.result, cudaSuccess);
  EXPECT_EQ(found.status, cudaDriverEntryPointSuccess);
  EXPECT_EQ(found.function, dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"));
  EXPECT_EQ(ask("cuStreamQuery", 12000, cudaEnablePerThreadDefaultStream).function,
            dlsym(RTLD_DEFAULT, "cuStreamQuery_ptsz"));
  EXPECT_EQ(ask("cuStreamQuery", 12000, cudaEnableLegacyStream).function,
            dlsym(RTLD_DEFAULT, "cuStreamQuery"));
}

TEST_F(RuntimeLibraryTest, AFunctionThatTheDriverDoesNotHave) {
  const Answer missing = ask("cuNoSuchFunction", 12000);
  EXPECT_EQ(missing.result, cudaSuccess);
  EXPECT_EQ(missing.status, cudaDriverEntryPointSymbolNotFound);
  EXPECT_EQ(missing.function, nullptr);
  void* function = this;
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &function, 12000,
                                             cudaEnableDefault, nullptr),
            cudaSuccess);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(RuntimeLibraryTest, AFunctionThatIsTooNewForTheVersion) {
  const Answer early = ask("cuStreamGetId", 11000);
  EXPECT_EQ(early.result, cudaSuccess);
  EXPECT_EQ(early.status, cudaDriverEntryPointVersionNotSufficent);
  EXPECT_EQ(early.function, nullptr);
}

TEST_F(RuntimeLibraryTest, WrongQuestions) {
  void* function = nullptr;
  EXPECT_EQ(cudaGetDriverEntryPointByVersion(nullptr, &function, 12000, 0, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuInit", nullptr, 12000, 0, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(ask("cuInit", 99000).result, cudaErrorInvalidValue);
}

TEST_F(RuntimeLibraryTest, TheOlderQuestionMeansTheRuntimesVersion) {
  const auto older = reinterpret_cast<cudaError_t (*)(const char*, void**, unsigned long long,
                                                      cudaDriverEntryPointQueryResult*)>(
      dlsym(RTLD_DEFAULT, "cudaGetDriverEntryPoint"));
  ASSERT_NE(older, nullptr);
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
  FERRY_RT_OK(older("cuMemAlloc", &function, cudaEnableDefault, &status));
  EXPECT_EQ(status, cudaDriverEntryPointSuccess);
  EXPECT_EQ(function, dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"));
}

}  // namespace
}  // namespace ferry::sim::runtime_test
