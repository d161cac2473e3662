// SPDX-License-Identifier: Apache-2.0
// `ferry doctor`: which driver was found, what works on this machine, and what to do about the
// rest.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "front/cli/cli.hpp"

namespace ferry::cli {

void add_doctor_command(CLI::App& app, const WordsAfterDashes& words, int& exit_code);

// What is printed with --json for a command line that could not be understood.
[[nodiscard]] std::string doctor_error_json(const std::string& error);

}  // namespace ferry::cli
