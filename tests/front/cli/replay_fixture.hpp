// SPDX-License-Identifier: Apache-2.0
// What the tests of `ferry replay` as a program share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "front/cli/run_program.hpp"
#include "front/traces/files.hpp"

namespace ferry::cli::testing {

using ferry::testing::Outcome;
using ferry::testing::run_program;

inline Outcome ferry_replay(const std::vector<std::string>& arguments,
                            std::vector<std::string> environment = {"FERRY_DRIVER", "FERRY_SIM"}) {
  std::vector<std::string> line{FERRY_PROGRAM, "replay"};
  line.insert(line.end(), arguments.begin(), arguments.end());
  return run_program(std::move(line), environment);
}

// Two streams; 3 MiB at most.
class ReplayCommand : public ::testing::Test {
 protected:
  const replay::testing::TemporaryFile log_{
      "Thread,Time,Action,Pointer,Size,Stream\n"
      "1,10:00:00:000001,allocate,0x1000,1048576,0\n"
      "1,10:00:00:000002,allocate,0x2000,2097152,7\n"
      "1,10:00:00:000003,free,0x1000,1048576,0\n"
      "1,10:00:00:000004,free,0x2000,2097152,7\n",
      "command.csv"};
  const replay::testing::TemporaryFile broken_{"\x80\x02}q\x01(", "broken.pickle"};
  const std::string good = log_.path();
  const std::string bad = broken_.path();
};

}  // namespace ferry::cli::testing
