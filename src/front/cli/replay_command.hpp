// SPDX-License-Identifier: Apache-2.0
// `ferry replay`: puts recorded allocation histories to Ferry's pool.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "front/cli/cli.hpp"
#include "front/replay/replay_result.hpp"

namespace ferry::cli {

void add_replay_command(CLI::App& app, const WordsAfterDashes& words, int& exit_code);

// What is printed with --json for a command line that could not be understood.
[[nodiscard]] std::string replay_error_json(const std::string& error);

// What the process ends with: 1 where a check failed or the driver did, else 2 where a file could
// not be read or none was found, else 3 where memory (of the device or the host) did not suffice,
// else 0.
[[nodiscard]] int replay_exit_code(const replay::ReplayReport& report);

}  // namespace ferry::cli
