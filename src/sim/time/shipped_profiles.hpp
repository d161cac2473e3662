// SPDX-License-Identifier: Apache-2.0
// The profiles of src/sim/profiles, within the library: a program that loads nothing but
// libcuda.so.1 has them all. The build writes the definition (shipped_profiles.cmake).
#pragma once

#include <span>
#include <string_view>

namespace ferry::sim {

struct ShippedProfile {
  std::string_view name;
  std::string_view json;
};

[[nodiscard]] std::span<const ShippedProfile> shipped_profiles();  // by name

}  // namespace ferry::sim
