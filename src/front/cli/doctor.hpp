// SPDX-License-Identifier: Apache-2.0
// `ferry doctor`: which driver was found, what works on this machine, and what to do about the
// rest.
#pragma once

#include <CLI/App.hpp>

namespace ferry::cli {

void add_doctor_command(CLI::App& app, int& exit_code);

}  // namespace ferry::cli
