// SPDX-License-Identifier: Apache-2.0
#include "sim/words/settings.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "sim/words/error_text.hpp"
#include "sim/words/symbols.hpp"

namespace ferry::sim {

namespace {

using Problem = std::optional<std::string>;  // nothing when the part was understood

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return number;
}

Problem read_devices(Settings& settings, std::string_view value) {
  const std::optional<int> count = parse_number<int>(value);
  if (!count || *count < 0 || *count > kMaxDevices) {
    return fmt::format("a number from 0 to {}", kMaxDevices);
  }
  settings.devices = *count;
  return std::nullopt;
}

// Whether there is such a profile is for its reader to say.
Problem read_profile_name(Settings& settings, std::string_view value) {
  if (value.empty()) return "the name of a profile (ferry sim list) or the path of a file";
  settings.profile = value;
  return std::nullopt;
}

Problem read_capacity(Settings& settings, std::string_view value) {
  const std::optional<Bytes> capacity = parse_bytes(value);
  if (!capacity || *capacity == Bytes{}) return "a size such as 24GiB";
  settings.capacity = *capacity;
  settings.capacity_given = true;
  return std::nullopt;
}

Problem read_data(Settings& settings, std::string_view value) {
  if (value != "real" && value != "none") return "real or none";
  settings.with_data = value == "real";
  return std::nullopt;
}

Problem read_schedule(Settings& settings, std::string_view value) {
  if (value == "eager") {
    settings.schedule = Schedule::eager;
  } else if (value == "lazy") {
    settings.schedule = Schedule::lazy;
  } else if (value == "random") {
    settings.schedule = Schedule::random;
  } else {
    return "eager, lazy or random";
  }
  return std::nullopt;
}

Problem read_seed(Settings& settings, std::string_view value) {
  const std::optional<std::uint64_t> seed = parse_number<std::uint64_t>(value);
  if (!seed) return "a number from 0 to 18446744073709551615";
  settings.seed = *seed;
  return std::nullopt;
}

Problem read_hazards(Settings& settings, std::string_view value) {
  if (value == "off") {
    settings.hazards = HazardMode::off;
  } else if (value == "report") {
    settings.hazards = HazardMode::report;
  } else if (value == "abort") {
    settings.hazards = HazardMode::abort;
  } else {
    return "off, report or abort";
  }
  return std::nullopt;
}

// FUNCTION@N:RESULT, the result as a number or as a name of cuda.h.
Problem read_fault(Settings& settings, std::string_view value) {
  const std::size_t at = value.find('@');
  const std::size_t colon = value.find(':');
  if (at == std::string_view::npos || colon == std::string_view::npos || colon < at) {
    return "FUNCTION@N:RESULT, such as cuMemCreate@3:2";
  }
  const std::string_view function = value.substr(0, at);
  if (!is_function_name(function)) {
    return fmt::format("a driver function of the stand-in by its base name, not '{}'", function);
  }
  const auto nth = parse_number<std::uint64_t>(value.substr(at + 1, colon - at - 1));
  if (!nth || *nth == 0) return "a call number from 1 on after the @";
  const std::string_view result_text = value.substr(colon + 1);
  std::optional<int> result = parse_number<int>(result_text);
  if (!result) result = result_by_name(result_text);
  if (!result || !is_result(*result) || *result == 0)
    return "a CUresult of cuda.h that is a failure after the :";
  settings.faults.push_back(FaultRule{std::string(function), *nth, *result});
  return std::nullopt;
}

struct Key {
  std::string_view name;
  Problem (*read)(Settings&, std::string_view);
};
constexpr Key kKeys[] = {
    {"devices", read_devices}, {"capacity", read_capacity}, {"profile", read_profile_name},
    {"data", read_data},       {"schedule", read_schedule}, {"seed", read_seed},
    {"hazards", read_hazards}, {"fault", read_fault},
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Problem read_part(Settings& settings, std::string_view part) {
  const std::size_t equals = part.find('=');
  const std::string_view name = trimmed(part.substr(0, equals));
  for (const Key& key : kKeys) {
    if (key.name != name) continue;
    if (equals == std::string_view::npos) return "KEY=VALUE";
    return key.read(settings, trimmed(part.substr(equals + 1)));
  }
  std::string names;
  for (const Key& key : kKeys) names += fmt::format("{}{}", names.empty() ? "" : ", ", key.name);
  return "one of the keys " + names;
}

}  // namespace

Result<Settings, std::string> apply_settings(const Settings& base, std::string_view text) {
  Settings settings = base;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view part = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part.empty()) continue;
    if (const Problem expected = read_part(settings, part)) {
      return fmt::format("'{}' is not understood; expected {}", part, *expected);
    }
  }
  return settings;
}

}  // namespace ferry::sim
