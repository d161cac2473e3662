// SPDX-License-Identifier: Apache-2.0
// ferry_conformance [--library PATH]: judges a CUDA driver by the text of cuda.h.
// Which driver: --library, else FERRY_CONFORMANCE_LIBRARY, else the stand-in (FERRY_SIM_DIR).
// Exit status 77 when a driver was asked for and is not there, or has no device.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "conformance/driver_under_test.hpp"
#include "conformance/peer_process.hpp"

namespace {

constexpr int kSkipped = 77;

std::string from_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string library_to_judge(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--library") == 0) return argv[i + 1];
  }
  const std::string named = from_environment("FERRY_CONFORMANCE_LIBRARY");
  return named.empty() ? from_environment("FERRY_SIM_DIR") + "/libcuda.so.1" : named;
}

}  // namespace

int main(int argc, char** argv) {
  // Tests that poison a context each need a process of their own.
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  testing::InitGoogleTest(&argc, argv);
  const std::string library = library_to_judge(argc, argv);
  std::string why;
  switch (ferry::conformance::load_driver(library, why)) {
    case ferry::conformance::Loaded::ready:
      break;
    case ferry::conformance::Loaded::absent:
      std::fprintf(stderr, "skipped: %s: %s\n", library.c_str(), why.c_str());
      return kSkipped;
    case ferry::conformance::Loaded::broken:
      std::fprintf(stderr, "failed: %s: %s\n", library.c_str(), why.c_str());
      return 1;
  }
  const int played = ferry::conformance::run_role(argc, argv);
  return played >= 0 ? played : RUN_ALL_TESTS();
}
