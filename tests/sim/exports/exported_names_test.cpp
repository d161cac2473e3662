// SPDX-License-Identifier: Apache-2.0
// The file that programs load: its name, what it exports, and that it exports nothing else.
#include <dlfcn.h>
#include <ferry/sim.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>

#include "sim/words/cuda_api.hpp"
#include "sim/words/symbols.hpp"

namespace ferry::sim {
namespace {

constexpr const char* kControls[] = {
    FERRY_SIM_CONFIGURE,     FERRY_SIM_RESET,     FERRY_SIM_FAIL_NTH,  FERRY_SIM_CALLS,
    FERRY_SIM_MEMORY_IN_USE, FERRY_SIM_DRAIN,     FERRY_SIM_PEEK,      FERRY_SIM_TAKE_HAZARDS,
    FERRY_SIM_NOW_PS,        FERRY_SIM_HOST_WORK, FERRY_SIM_HOST_COPY,
};

std::string library_file() {
  const char* const folder = std::getenv("FERRY_SIM_DIR");
  return std::string(folder == nullptr ? "." : folder) + "/libcuda.so.1";
}

void* library() {
  static void* const handle = dlopen(library_file().c_str(), RTLD_NOW | RTLD_LOCAL);
  return handle;
}

TEST(ExportedNames, EveryRowAndControlIsThere) {
  ASSERT_NE(library(), nullptr) << dlerror();
  for (const SymbolRow& row : kSymbols) {
    EXPECT_NE(dlsym(library(), std::string(row.elf_name).c_str()), nullptr) << row.elf_name;
  }
  for (const char* control : kControls) EXPECT_NE(dlsym(library(), control), nullptr) << control;
}

TEST(ExportedNames, LookUpAndNameLeadToTheSameFunction) {
  ASSERT_NE(library(), nullptr) << dlerror();
  const auto look_up =
      reinterpret_cast<PFN_cuGetProcAddress_v12000>(dlsym(library(), "cuGetProcAddress_v2"));
  ASSERT_NE(look_up, nullptr);
  for (const SymbolRow& row : kSymbols) {
    void* address = nullptr;
    EXPECT_EQ(look_up(std::string(row.name).c_str(), &address, row.version, 0, nullptr),
              CUDA_SUCCESS);
    EXPECT_EQ(address, dlsym(library(), std::string(row.elf_name).c_str())) << row.elf_name;
  }
}

struct ClosePipe {
  void operator()(std::FILE* pipe) const { pclose(pipe); }
};

TEST(ExportedNames, NothingElseIsExported) {
  const std::string command = "nm -D --defined-only '" + library_file() + "' 2>/dev/null";
  const std::unique_ptr<std::FILE, ClosePipe> pipe(popen(command.c_str(), "r"));
  ASSERT_TRUE(pipe);
  std::set<std::string> wanted(std::begin(kControls), std::end(kControls));
  for (const SymbolRow& row : kSymbols) wanted.emplace(row.elf_name);
  std::set<std::string> seen;
  char line[1024];
  while (std::fgets(line, sizeof line, pipe.get()) != nullptr) {
    std::string text(line);
    text.erase(text.find_last_not_of('\n') + 1);
    seen.insert(text.substr(text.find_last_of(' ') + 1));
  }
  if (seen.empty()) GTEST_SKIP() << "nm is not installed";
  EXPECT_EQ(seen, wanted);
}

}  // namespace
}  // namespace ferry::sim
