// SPDX-License-Identifier: Apache-2.0
// `ferry sim run --traffic`: the program runs as a child, its copies are recorded, and added up
// when it has ended.
#pragma once

#include <cstdint>
#include <string>

#include "front/cli/stand_in_program.hpp"
#include "front/traffic/traffic_account.hpp"

namespace ferry::cli {

struct TrafficOptions {
  std::string json;  // a file; empty: none
  std::string html;
  traffic::PhasesBy phases_by = traffic::PhasesBy::phase;
  std::uint64_t parameters = 0;  // 0: as the program was found to have
};

// The table goes to standard error, as the program has the standard output. The program's own exit
// code, or one of ours where it could not be run, or a file could not be written.
[[nodiscard]] int run_with_traffic(StandInProgram program, const TrafficOptions& options);

}  // namespace ferry::cli
