// SPDX-License-Identifier: Apache-2.0
// A program that is to run on the stand-in, and what its environment must be for that.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ferry::cli {

inline constexpr const char* kNoStandIn =
    "the stand-in was not found. Install it, or set FERRY_SIM_DIR to the folder of its "
    "libcuda.so.1.";

struct StandInProgram {
  std::optional<std::string> settings;                       // in the place of FERRY_SIM
  std::vector<std::pair<const char*, std::string>> machine;  // settings with options of their own
  std::optional<std::string> values;                         // off or cpu
  std::optional<std::string> traffic_folder;                 // for the record of its copies
  bool no_preload = false;
  std::vector<std::string> program;  // and its arguments
};

// Becomes the program, by execvp. Returns only when that could not be done, with the exit code for
// it; what is wrong was printed then.
[[nodiscard]] int exec_on_stand_in(const StandInProgram& program);

}  // namespace ferry::cli
