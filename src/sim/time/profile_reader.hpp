// SPDX-License-Identifier: Apache-2.0
// Profiles from JSON, and by name from those that are shipped. A missing, unknown or malformed key
// is an error that names it: a typing error must not become a default.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"
#include "sim/time/profile.hpp"

namespace ferry::sim {

// A figure is {"value": whole number, "unit": "GB/s", "source": "...", "sure": "read"}; a file has
// "name", "description" and the sections of kFigures, with "device.name" as a text. Errors are
// sentences.
[[nodiscard]] Result<Profile, std::string> read_profile(std::string_view json);

// A shipped profile by name, or the file at a path (anything with a slash).
[[nodiscard]] Result<Profile, std::string> find_profile(std::string_view name_or_path);

}  // namespace ferry::sim
