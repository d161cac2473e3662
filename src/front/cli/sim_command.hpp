// SPDX-License-Identifier: Apache-2.0
// `ferry sim`: run programs on the stand-in for the CUDA driver.
#pragma once

#include <CLI/App.hpp>

#include "front/cli/cli.hpp"

namespace ferry::cli {

void add_sim_command(CLI::App& app, const WordsAfterDashes& words, int& exit_code);

}  // namespace ferry::cli
