// SPDX-License-Identifier: Apache-2.0
#include "driver/driver_choice.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace ferry {

namespace {

// The file that holds this code: the executable or a shared library. Empty when it cannot be told.
std::filesystem::path own_file() {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(reinterpret_cast<void*>(&own_file), &info, reinterpret_cast<void**>(&map),
              RTLD_DL_LINKMAP) == 0 ||
      map == nullptr) {
    return {};
  }
  // The loader leaves the executable unnamed; argv[0] would not do, as it may be relative.
  const std::filesystem::path file = *map->l_name == '\0' ? "/proc/self/exe" : map->l_name;
  std::error_code error;
  std::filesystem::path real = std::filesystem::canonical(file, error);
  return error ? std::filesystem::path{} : real;
}

bool holds_driver(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::exists(folder / kDriverLibrary, error);
}

}  // namespace

Result<DriverChoice, std::string> DriverChoice::parse(std::string_view text) {
  if (text == "auto") return DriverChoice{};
  if (text == "cuda") return DriverChoice{.kind = Kind::cuda, .path = {}};
  if (text == "sim") return DriverChoice{.kind = Kind::sim, .path = {}};
  if (text.starts_with('/')) return DriverChoice{.kind = Kind::path, .path = std::string(text)};
  return fmt::format("\"{}\" names no driver: use auto, cuda, sim, or the full path of a {}.", text,
                     kDriverLibrary);
}

Result<DriverChoice, std::string> DriverChoice::from_environment() {
  const char* const text = std::getenv("FERRY_DRIVER");
  if (text == nullptr || *text == '\0') return DriverChoice{};
  Result<DriverChoice, std::string> choice = parse(text);
  if (!choice) return "FERRY_DRIVER: " + choice.error();
  return choice;
}

std::string stand_in_folder() {
  if (const char* const folder = std::getenv("FERRY_SIM_DIR");
      folder != nullptr && *folder != '\0') {
    return holds_driver(folder) ? std::filesystem::absolute(folder).string() : "";
  }
  const std::filesystem::path file = own_file();
  if (file.empty()) return "";
  const std::filesystem::path here = file.parent_path();
  // Seen from bin/ferry and from libferry.so, in the build tree and in an installation.
  for (const char* const place :
       {"../lib/sim", "sim", "../" FERRY_INSTALL_LIBDIR "/ferry/sim", "ferry/sim"}) {
    if (holds_driver(here / place)) return (here / place).lexically_normal().string();
  }
  return "";
}

}  // namespace ferry
