// SPDX-License-Identifier: Apache-2.0
// `ferry compare`: one PyTorch program under its own allocators and under Ferry, on the stand-in.
#pragma once

#include <CLI/App.hpp>

#include "front/cli/cli.hpp"

namespace ferry::cli {

void add_compare_command(CLI::App& app, const WordsAfterDashes& words, int& exit_code);

}  // namespace ferry::cli
