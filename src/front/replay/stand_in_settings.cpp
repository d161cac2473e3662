// SPDX-License-Identifier: Apache-2.0
#include "front/replay/stand_in_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace ferry::replay {

namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Takes the first part of a text off it.
std::string_view take_part(std::string_view& text) {
  const std::string_view part = text.substr(0, text.find(';'));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

std::string_view key_of(std::string_view part) {
  return trimmed(part.substr(0, part.find('=')));
}

}  // namespace

Result<StandInSettings, std::string> StandInSettings::from(
    std::string_view environment, const std::optional<std::string>& schedule,
    std::optional<std::uint64_t> seed) {
  if (schedule && schedule != "eager" && schedule != "lazy" && schedule != "random") {
    return fmt::format("--schedule: \"{}\" is none of eager, lazy and random.", *schedule);
  }
  StandInSettings settings;
  settings.schedule = schedule ? *schedule : setting_in(environment, "schedule").value_or("eager");
  if (seed) {
    settings.seed = *seed;
  } else if (const auto given = setting_in(environment, "seed")) {
    // What cannot be read stays 0 here and is refused by the stand-in, which knows its syntax.
    std::from_chars(given->data(), given->data() + given->size(), settings.seed);
  }
  if (const auto given = setting_in(environment, "capacity"))
    settings.capacity = parse_bytes(*given);
  settings.holds_data = setting_in(environment, "data") != "none";
  settings.text = environment;
  if (schedule) settings.text = with_setting(settings.text, "schedule", *schedule);
  if (seed) settings.text = with_setting(settings.text, "seed", fmt::to_string(*seed));
  return settings;
}

std::optional<std::string_view> setting_in(std::string_view text, std::string_view key) {
  std::optional<std::string_view> value;
  while (!text.empty()) {
    const std::string_view part = take_part(text);
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos && key_of(part) == key) {
      value = trimmed(part.substr(equals + 1));
    }
  }
  return value;
}

std::string with_setting(std::string_view text, std::string_view key, std::string_view value) {
  std::string result;
  while (!text.empty()) {
    const std::string_view part = take_part(text);
    if (!trimmed(part).empty() && key_of(part) != key) result += fmt::format("{};", trimmed(part));
  }
  return result + fmt::format("{}={}", key, value);
}

}  // namespace ferry::replay
