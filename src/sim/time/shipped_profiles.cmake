# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, the C++ source that holds the JSON files PROFILES (a list, by name) as texts.
cmake_minimum_required(VERSION 3.25)
set(rows "")
foreach(file IN LISTS PROFILES)
  cmake_path(GET file STEM LAST_ONLY name)
  file(READ ${file} json)
  string(APPEND rows "    {\"${name}\", R\"profile(${json})profile\"},\n")
endforeach()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
// SPDX-License-Identifier: Apache-2.0
#include "sim/time/shipped_profiles.hpp"

namespace ferry::sim {

std::span<const ShippedProfile> shipped_profiles() {
  static constexpr ShippedProfile kProfiles[] = {
@rows@  };
  return kProfiles;
}

}  // namespace ferry::sim
]])
