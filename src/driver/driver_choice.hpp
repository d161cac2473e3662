// SPDX-License-Identifier: Apache-2.0
// Which driver library to load: what a user may ask for, and where the stand-in is found. Plain
// values; Driver::load acts on them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace ferry {

struct DriverChoice {
  enum class Kind : std::uint8_t { automatic, cuda, sim, path };
  Kind kind = Kind::automatic;
  std::string path;  // for Kind::path: the library file

  // Reads a FERRY_DRIVER value: auto | cuda | sim | /path/to/libcuda.so.1. The error is a sentence.
  [[nodiscard]] static Result<DriverChoice, std::string> parse(std::string_view text);
  // FERRY_DRIVER, or automatic where it is unset or empty.
  [[nodiscard]] static Result<DriverChoice, std::string> from_environment();

  friend bool operator==(const DriverChoice&, const DriverChoice&) = default;
};

// The file name of the CUDA driver, and of the stand-in that takes its place.
inline constexpr const char* kDriverLibrary = "libcuda.so.1";

// The folder that holds the stand-in's libcuda.so.1 (build tree or installation), found relative to
// the file this code was loaded from; FERRY_SIM_DIR overrides. Empty when there is none.
[[nodiscard]] std::string stand_in_folder();

}  // namespace ferry
