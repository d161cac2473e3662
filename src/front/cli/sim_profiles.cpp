// SPDX-License-Identifier: Apache-2.0
#include "front/cli/sim_profiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "driver/driver.hpp"
#include "front/cli/cli.hpp"
#include "front/cli/stand_in_program.hpp"

namespace ferry::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string name;
  bool json = false;
};

std::filesystem::path profile_folder() {
  const std::string folder = stand_in_folder();
  return folder.empty() ? std::filesystem::path() : std::filesystem::path(folder) / "profiles";
}

// The profiles' files, by name.
std::vector<std::filesystem::path> profile_files() {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(profile_folder(), error)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Discarded where the file cannot be read or is not JSON.
Json read_json(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return Json(Json::value_t::discarded);
  std::ifstream file(path, std::ios::binary);
  if (!file) return Json(Json::value_t::discarded);
  return Json::parse(file, nullptr, false);
}

// A text of the profile, or nothing where it has none there.
std::string text_at(const Json& profile, const char* pointer) {
  const Json::json_pointer place(pointer);
  if (!profile.contains(place) || !profile.at(place).is_string()) return "";
  return profile.at(place).get<std::string>();
}

int list_profiles(const Options& options) {
  if (profile_folder().empty()) return fail(kExitFailure, kNoStandIn);
  Json list = Json::array();
  for (const std::filesystem::path& file : profile_files()) {
    const Json profile = read_json(file);
    list.push_back({{"name", file.stem().string()},
                    {"device", text_at(profile, "/device/name/value")},
                    {"description", text_at(profile, "/description")},
                    {"path", file.string()}});
  }
  if (options.json) {
    fmt::print("{}\n", list.dump(2));
    return kExitOk;
  }
  for (const Json& row : list)
    fmt::print("{:<20} {}\n", row.at("name").get<std::string>(),
               row.at("description").get<std::string>());
  return kExitOk;
}

std::string names() {
  std::string all;
  for (const std::filesystem::path& file : profile_files())
    all += fmt::format("{}{}", all.empty() ? "" : ", ", file.stem().string());
  return all;
}

// "55400 MB/s", a text as it is, anything else as JSON.
std::string value_text(const Json& figure) {
  const Json& value = figure.at("value");
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  const std::string unit = text_at(figure, "/unit");
  return unit.empty() ? text : text + " " + unit;
}

void print_section(const std::string& section, const Json& figures) {
  for (const auto& [key, figure] : figures.items()) {
    if (!figure.is_object() || !figure.contains("value")) continue;
    fmt::print("{:<34} {:>16}  {:<8}  {}\n", section + "." + key, value_text(figure),
               text_at(figure, "/sure"), text_at(figure, "/source"));
  }
}

int show_profile(const Options& options) {
  const bool is_path = options.name.find('/') != std::string::npos;
  if (profile_folder().empty()) return fail(kExitFailure, kNoStandIn);
  if (is_path) {
    // The stand-in alone knows what a profile must have.
    setenv("FERRY_SIM", ("profile=" + options.name).c_str(), 1);
    if (const std::string error = stand_in_settings_error(); !error.empty())
      return fail(kExitUsage, error + ".");
  }
  const std::filesystem::path path =
      is_path ? std::filesystem::path(options.name) : profile_folder() / (options.name + ".json");
  if (!is_path && !std::filesystem::exists(path)) {
    return fail(kExitUsage, fmt::format("there is no profile \"{}\"; there are {}, or give the "
                                        "path of a file.",
                                        options.name, names()));
  }
  const Json profile = read_json(path);
  if (profile.is_discarded() || !profile.is_object())
    return fail(kExitUsage, fmt::format("{} is not a profile that can be read.", path.string()));
  if (options.json) {
    fmt::print("{}\n", profile.dump(2));
    return kExitOk;
  }
  fmt::print(
      "{}: {}\nModelled, not measured: these figures rank designs and say nothing about the "
      "speed of a GPU.\n\n",
      text_at(profile, "/name"), text_at(profile, "/description"));
  for (const auto& [section, figures] : profile.items()) {
    if (figures.is_object()) print_section(section, figures);
  }
  return kExitOk;
}

}  // namespace

void add_profile_commands(CLI::App& sim, int& exit_code) {
  const auto options = std::make_shared<Options>();
  CLI::App* const list = sim.add_subcommand("list", "List the machine profiles of the stand-in");
  list->footer("Choose one with FERRY_SIM or --settings: profile=h200-pcie5");
  list->add_flag("--json", options->json, "Print JSON");
  list->callback([options, &exit_code] { exit_code = list_profiles(*options); });
  CLI::App* const show =
      sim.add_subcommand("show", "Show a profile: every figure with its source and certainty");
  show->add_option("profile", options->name, "A name of ferry sim list, or the path of a file")
      ->required();
  show->add_flag("--json", options->json, "Print JSON");
  show->callback([options, &exit_code] { exit_code = show_profile(*options); });
}

}  // namespace ferry::cli
