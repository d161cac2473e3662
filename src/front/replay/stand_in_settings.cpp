// SPDX-License-Identifier: Apache-2.0
#include "front/replay/stand_in_settings.hpp"

#include <fmt/format.h>

#include <charconv>

namespace ferry::replay {

namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// The value that a key has in the end: later settings replace earlier ones.
std::optional<std::string_view> value_of(std::string_view text, std::string_view key) {
  std::optional<std::string_view> value;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos && trimmed(part.substr(0, equals)) == key) {
      value = trimmed(part.substr(equals + 1));
    }
  }
  return value;
}

}  // namespace

Result<StandInSettings, std::string> StandInSettings::from(
    std::string_view environment, const std::optional<std::string>& schedule,
    std::optional<std::uint64_t> seed) {
  if (schedule && schedule != "eager" && schedule != "lazy" && schedule != "random") {
    return fmt::format("--schedule: \"{}\" is none of eager, lazy and random.", *schedule);
  }
  StandInSettings settings;
  settings.schedule = schedule ? *schedule : value_of(environment, "schedule").value_or("eager");
  if (seed) {
    settings.seed = *seed;
  } else if (const auto given = value_of(environment, "seed")) {
    // What cannot be read stays 0 here and is refused by the stand-in, which knows its syntax.
    std::from_chars(given->data(), given->data() + given->size(), settings.seed);
  }
  if (const auto given = value_of(environment, "capacity")) settings.capacity = parse_bytes(*given);
  settings.holds_data = value_of(environment, "data") != "none";
  settings.text = environment;
  if (schedule) settings.text += ";schedule=" + *schedule;
  if (seed) settings.text += fmt::format(";seed={}", *seed);
  return settings;
}

}  // namespace ferry::replay
