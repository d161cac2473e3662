// SPDX-License-Identifier: Apache-2.0
// Libraries: they belong to no context, their kernels are launched in any.
#include "conformance/fixture.hpp"

namespace ferry::conformance {
namespace {

constexpr const char* kPtx =
    ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry nothing()\n{\n  ret;\n}\n";

class LibraryTest : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    FERRY_OK(cuda().cuLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
    FERRY_OK(cuda().cuLibraryGetKernel(&nothing, library, "nothing"));
  }
  void TearDown() override {
    EXPECT_EQ(cuda().cuLibraryUnload(library), CUDA_SUCCESS);
    WithContext::TearDown();
  }

  CUlibrary library = nullptr;
  CUkernel nothing = nullptr;
};

TEST_F(LibraryTest, ANameThatIsNotInItIsNotFound) {
  CUkernel other = nullptr;
  EXPECT_EQ(cuda().cuLibraryGetKernel(&other, library, "something"), CUDA_ERROR_NOT_FOUND);
}

TEST_F(LibraryTest, AKernelKnowsItsLibraryAndItsName) {
  CUlibrary owner = nullptr;
  FERRY_OK(cuda().cuKernelGetLibrary(&owner, nothing));
  EXPECT_EQ(owner, library);
  const char* name = nullptr;
  FERRY_OK(cuda().cuKernelGetName(&name, nothing));
  EXPECT_STREQ(name, "nothing");
}

TEST_F(LibraryTest, ItsFunctionIsThatOfItsModule) {
  CUmodule module = nullptr;
  FERRY_OK(cuda().cuLibraryGetModule(&module, library));
  CUfunction of_module = nullptr;
  FERRY_OK(cuda().cuModuleGetFunction(&of_module, module, "nothing"));
  CUfunction of_kernel = nullptr;
  FERRY_OK(cuda().cuKernelGetFunction(&of_kernel, nothing));
  EXPECT_EQ(of_kernel, of_module);
}

}  // namespace
}  // namespace ferry::conformance
