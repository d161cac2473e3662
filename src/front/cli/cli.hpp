// SPDX-License-Identifier: Apache-2.0
// The command line program `ferry`: what all subcommands share.
//
// A subcommand lives in a file of its own and offers one function
//   void add_NAME_command(CLI::App& app, const WordsAfterDashes& words, int& exit_code);
// which adds the subcommand to `app` with a callback that does the work and sets `exit_code`. It
// runs after the whole line has been understood; `words` outlives it. The function is listed once,
// in cli.cpp. Results go to stdout; errors go to stderr by fail().
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "front/process.hpp"

namespace ferry::cli {

// What follows "--" on the command line, word for word.
using WordsAfterDashes = std::vector<std::string>;

// What scripts can rely on. `ferry sim run` ends with its program's code, 127 where there is none.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;  // a command line or an input file that cannot be understood
inline constexpr int kExitOutOfMemory = 3;

inline constexpr const char* kHostMemoryExhausted = "this machine's own memory is exhausted.";

// Runs the program; the exit code of the process.
[[nodiscard]] int run(int argc, char** argv);

// Prints "ferry: MESSAGE" on stderr, in one line, and returns `exit_code`.
[[nodiscard]] int fail(int exit_code, std::string_view message);

// Adds `--device auto|cuda|sim|/path`: which driver to use. `text` must outlive the parsing.
void add_device_option(CLI::App& command, std::string& text);

// The choice of `--device`, or of FERRY_DRIVER where the option was not given.
[[nodiscard]] Result<DriverChoice, std::string> driver_choice(const std::string& text);

}  // namespace ferry::cli
