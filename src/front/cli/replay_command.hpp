// SPDX-License-Identifier: Apache-2.0
// `ferry replay`: puts recorded allocation histories to Ferry's pool.
#pragma once

#include <CLI/App.hpp>

#include "front/replay/replay_result.hpp"

namespace ferry::cli {

void add_replay_command(CLI::App& app, int& exit_code);

// What the process ends with: 1 where a check failed or the driver did, else 2 where a file could
// not be read, else 3 where memory did not suffice, else 0.
[[nodiscard]] int replay_exit_code(const replay::ReplayReport& report);

}  // namespace ferry::cli
