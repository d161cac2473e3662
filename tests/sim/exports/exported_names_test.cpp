// SPDX-License-Identifier: Apache-2.0
// The file that programs load: its name, what it exports, and that it exports nothing else.
#include <dlfcn.h>
#include <ferry/sim.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "sim/words/cuda_api.hpp"
#include "sim/words/symbols.hpp"

namespace ferry::sim {
namespace {

constexpr const char* kControls[] = {
    FERRY_SIM_CONFIGURE,      FERRY_SIM_RESET,
    FERRY_SIM_FAIL_NTH,       FERRY_SIM_CALLS,
    FERRY_SIM_MEMORY_IN_USE,  FERRY_SIM_DRAIN,
    FERRY_SIM_PEEK,           FERRY_SIM_TAKE_HAZARDS,
    FERRY_SIM_SETTINGS_ERROR, FERRY_SIM_REGISTER_KERNEL,
    FERRY_SIM_NOW_PS,         FERRY_SIM_HOST_WORK,
    FERRY_SIM_HOST_COPY,      FERRY_SIM_THREAD_EXPECT,
    FERRY_SIM_THREAD_BEGIN,   FERRY_SIM_THREAD_END,
    FERRY_SIM_THREAD_PAUSE,   FERRY_SIM_THREAD_WAKE,
    FERRY_SIM_THREAD_RESUME,  FERRY_SIM_SET_THREAD_NODE,
    FERRY_SIM_PLACE_HOST,     FERRY_SIM_OPERATOR_BEGIN,
    FERRY_SIM_OPERATOR_END,   FERRY_SIM_OPERATOR_TOUCHES,
    FERRY_SIM_STORAGE_END,    FERRY_SIM_SETTLE,
    FERRY_SIM_HOST_VIEW,      FERRY_SIM_CALL_COST_PS,
    FERRY_SIM_TRAFFIC_MARK,
};

std::string library_folder() {
  const char* const folder = std::getenv("FERRY_SIM_DIR");
  return folder == nullptr ? "." : folder;
}

std::string library_file() {
  return library_folder() + "/libcuda.so.1";
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
    const cuuint64_t flags = row.per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                            : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    EXPECT_EQ(look_up(std::string(row.name).c_str(), &address, row.version, flags, nullptr),
              CUDA_SUCCESS);
    EXPECT_EQ(address, dlsym(library(), std::string(row.elf_name).c_str())) << row.elf_name;
  }
}

struct ClosePipe {
  void operator()(std::FILE* pipe) const { pclose(pipe); }
};

// What `nm` finds; empty where it is not installed or there is no such file.
std::set<std::string> exports_of(const std::string& file) {
  const std::string command = "nm -D --defined-only '" + file + "' 2>/dev/null";
  const std::unique_ptr<std::FILE, ClosePipe> pipe(popen(command.c_str(), "r"));
  std::set<std::string> names;
  char line[1024];
  while (pipe && std::fgets(line, sizeof line, pipe.get()) != nullptr) {
    std::string text(line);
    text.erase(text.find_last_not_of('\n') + 1);
    names.insert(text.substr(text.find_last_of(' ') + 1));
  }
  return names;
}

// The manifest beside the library: "implemented" or "stub", by name.
std::map<std::string, std::string> manifest() {
  std::ifstream file(library_folder() + "/capabilities.txt");
  std::map<std::string, std::string> found;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const std::size_t space = line.find(' ');
    found.emplace(line.substr(0, space), line.substr(space + 1));
  }
  return found;
}

TEST(ExportedNames, NothingIsExportedThatTheManifestDoesNotName) {
  const std::set<std::string> seen = exports_of(library_file());
  if (seen.empty()) GTEST_SKIP() << "nm is not installed";
  std::set<std::string> wanted(std::begin(kControls), std::end(kControls));
  for (const auto& [name, what] : manifest()) wanted.insert(name);
  EXPECT_EQ(seen, wanted);
}

TEST(ExportedNames, TheManifestTellsWhatIsThere) {
  std::set<std::string> implemented;
  for (const auto& [name, what] : manifest()) {
    if (what == "implemented") {
      implemented.insert(name);
    } else {
      EXPECT_EQ(what, "stub") << name;
    }
  }
  std::set<std::string> rows;
  for (const SymbolRow& row : kSymbols) rows.emplace(row.elf_name);
  EXPECT_EQ(implemented, rows);
}

// A program that is linked with the toolkit's stub of libcuda must start with the stand-in too.
TEST(ExportedNames, EveryNameOfTheToolkitIsThere) {
  const std::set<std::string> toolkit = exports_of(FERRY_TOOLKIT_LIBCUDA);
  if (toolkit.empty()) GTEST_SKIP() << "no " FERRY_TOOLKIT_LIBCUDA ", or no nm";
  const std::map<std::string, std::string> ours = manifest();
  for (const std::string& name : toolkit) {
    if (name.starts_with("cu")) {
      EXPECT_TRUE(ours.contains(name)) << name;
    }
  }
}

}  // namespace
}  // namespace ferry::sim
