// SPDX-License-Identifier: Apache-2.0
#include "sim/time/profile_reader.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "sim/time/shipped_profiles.hpp"
#include "sim/time/virtual_clock.hpp"

namespace ferry::sim {

namespace {

using Json = nlohmann::json;
using Problem = std::optional<std::string>;  // nothing where all is well

constexpr std::size_t kLongestFile = std::size_t{1} << 20;
constexpr std::int64_t kSlowest = 1'000'000;

struct Unit {
  Quantity quantity;
  std::string_view name;
  std::int64_t factor;
};
constexpr Unit kUnits[] = {
    {Quantity::rate, "B/s", 1},
    {Quantity::rate, "MB/s", 1'000'000},
    {Quantity::rate, "GB/s", 1'000'000'000},
    {Quantity::time, "ps", 1},
    {Quantity::time, "ns", kPicosecondsPerNanosecond},
    {Quantity::time, "us", kPicosecondsPerMicrosecond},
    {Quantity::size, "MiB", std::int64_t{1} << 20},
    {Quantity::size, "GiB", std::int64_t{1} << 30},
    {Quantity::count, "", 1},
};

std::string units_of(Quantity quantity) {
  std::string names;
  for (const Unit& unit : kUnits) {
    if (unit.quantity == quantity)
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", unit.name);
  }
  return names;
}

// The object has these keys and no others.
Problem check_keys(const Json& object, const std::string& place,
                   const std::vector<std::string_view>& keys) {
  const std::string prefix = place.empty() ? "" : place + ".";
  if (!object.is_object()) return fmt::format("\"{}\" is not an object", place);
  for (const std::string_view key : keys) {
    if (!object.contains(key)) return fmt::format("\"{}{}\" is missing", prefix, key);
  }
  for (const auto& [key, value] : object.items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      return fmt::format("\"{}{}\" is not known", prefix, key);
  }
  return std::nullopt;
}

Problem read_text(const Json& object, const std::string& place, const char* key, std::string& out) {
  const std::string path = place.empty() ? key : place + "." + key;
  const Json& value = object.at(key);
  if (!value.is_string() || value.get_ref<const std::string&>().empty())
    return fmt::format("\"{}\" is not a text", path);
  out = value.get<std::string>();
  return std::nullopt;
}

Problem read_sureness(const Json& object, const std::string& place, Certainty& out) {
  std::string text;
  if (Problem problem = read_text(object, place, "sure", text)) return problem;
  if (text == "seen") {
    out = Certainty::seen;
  } else if (text == "read") {
    out = Certainty::read;
  } else if (text == "inferred") {
    out = Certainty::inferred;
  } else {
    return fmt::format("\"{}.sure\" is neither seen, read nor inferred", place);
  }
  return std::nullopt;
}

Problem read_value(const Json& object, const std::string& place, Quantity quantity,
                   std::int64_t& out) {
  const Json& value = object.at("value");
  // A fraction would be a floating-point number: a finer unit says the same.
  if (!value.is_number_unsigned())
    return fmt::format("\"{}.value\" is not a whole number from 0 on; use a finer unit", place);
  const Json& unit_name = object.at("unit");
  for (const Unit& unit : kUnits) {
    if (unit.quantity != quantity || unit_name != unit.name) continue;
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / unit.factor))
      return fmt::format("\"{}.value\" is too large", place);
    out = static_cast<std::int64_t>(number) * unit.factor;
    if (quantity == Quantity::rate && out < kSlowest)
      return fmt::format("\"{}.value\" is slower than 1 MB/s", place);
    return std::nullopt;
  }
  return fmt::format("\"{}.unit\" is not one of {}", place, units_of(quantity));
}

Problem read_figure(const Json& root, const FigureRow& row, Profile& profile) {
  const std::string place = fmt::format("{}.{}", row.section, row.key);
  const Json& object = root.at(row.section).at(row.key);
  Figure& figure = profile.*row.member;
  if (Problem problem = check_keys(object, place, {"value", "unit", "source", "sure"}))
    return problem;
  if (Problem problem = read_value(object, place, row.quantity, figure.value)) return problem;
  if (Problem problem = read_text(object, place, "source", figure.source)) return problem;
  return read_sureness(object, place, figure.sure);
}

Problem read_device_name(const Json& device, Profile& profile) {
  const Json& object = device.at("name");
  if (Problem problem = check_keys(object, "device.name", {"value", "source", "sure"}))
    return problem;
  if (Problem problem = read_text(object, "device.name", "value", profile.device_name))
    return problem;
  if (Problem problem = read_text(object, "device.name", "source", profile.device_name_source))
    return problem;
  Certainty sure{};
  return read_sureness(object, "device.name", sure);
}

Problem check_shape(const Json& root) {
  constexpr std::string_view kSections[] = {"device", "link", "host", "calls"};
  if (!root.is_object()) return "it is not an object";
  if (Problem problem =
          check_keys(root, "", {"name", "description", "device", "link", "host", "calls"}))
    return problem;
  for (const std::string_view section : kSections) {
    std::vector<std::string_view> keys;
    if (section == "device") keys.push_back("name");
    for (const FigureRow& row : kFigures) {
      if (row.section == section) keys.push_back(row.key);
    }
    if (Problem problem = check_keys(root.at(section), std::string(section), keys)) return problem;
  }
  return std::nullopt;
}

// What the model takes for granted.
Problem check_sense(const Profile& profile) {
  const auto int_range = std::int64_t{std::numeric_limits<int>::max()};
  for (const FigureRow& row : kFigures) {
    const std::int64_t value = (profile.*row.member).value;
    if (row.quantity == Quantity::count && value > int_range)
      return fmt::format("\"{}.{}\" is too large", row.section, row.key);
    // An hour for one call or latency: times add up, and must not run over.
    if (row.quantity == Quantity::time &&
        value > 3600 * static_cast<std::int64_t>(kPicosecondsPerSecond))
      return fmt::format("\"{}.{}\" is longer than an hour", row.section, row.key);
  }
  if (profile.copy_engines.value == 0) return "\"device.copy_engines\" is 0";
  if (profile.host_nodes.value == 0) return "\"host.nodes\" is 0";
  if (profile.query.value == 0) return "\"calls.query\" is 0: a loop that polls would never end";
  if (profile.device_memory.value == 0) return "\"device.memory\" is 0";
  return std::nullopt;
}

Problem read_into(const Json& root, Profile& profile) {
  if (Problem problem = check_shape(root)) return problem;
  if (Problem problem = read_text(root, "", "name", profile.name)) return problem;
  if (Problem problem = read_text(root, "", "description", profile.description)) return problem;
  if (Problem problem = read_device_name(root.at("device"), profile)) return problem;
  for (const FigureRow& row : kFigures) {
    if (Problem problem = read_figure(root, row, profile)) return problem;
  }
  return check_sense(profile);
}

std::string names_of_shipped() {
  std::string names;
  for (const ShippedProfile& shipped : shipped_profiles())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", shipped.name);
  return names;
}

}  // namespace

Result<Profile, std::string> read_profile(std::string_view json) {
  const Json root = Json::parse(json, nullptr, false);
  if (root.is_discarded()) return std::string("it is not JSON");
  Profile profile;
  if (Problem problem = read_into(root, profile)) return std::move(*problem);
  return profile;
}

Result<Profile, std::string> find_profile(std::string_view name_or_path) {
  for (const ShippedProfile& shipped : shipped_profiles()) {
    if (shipped.name == name_or_path) return read_profile(shipped.json);
  }
  if (name_or_path.find('/') == std::string_view::npos) {
    return fmt::format("there is no profile '{}'; there are {}, or give the path of a file",
                       name_or_path, names_of_shipped());
  }
  std::ifstream file{std::string(name_or_path), std::ios::binary};
  std::string text(kLongestFile + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.gcount() <= 0) return fmt::format("the profile {} cannot be read", name_or_path);
  if (static_cast<std::size_t>(file.gcount()) > kLongestFile)
    return fmt::format("the profile {} is longer than 1 MiB", name_or_path);
  text.resize(static_cast<std::size_t>(file.gcount()));
  Result<Profile, std::string> profile = read_profile(text);
  if (!profile.ok())
    return fmt::format("the profile {} is not valid: {}", name_or_path, profile.error());
  return profile;
}

}  // namespace ferry::sim
