// SPDX-License-Identifier: Apache-2.0
// `ferry sim list` and `ferry sim show`: the machine profiles that lie beside the stand-in, as they
// are written. Whether a profile is valid is for the stand-in to say.
#pragma once

#include <CLI/App.hpp>

namespace ferry::cli {

void add_profile_commands(CLI::App& sim, int& exit_code);

}  // namespace ferry::cli
