// SPDX-License-Identifier: Apache-2.0
#include "sim/words/settings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/words/setting_values.hpp"

namespace ferry::sim {

namespace {

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
  const std::optional<Bytes> capacity = parse_size(value);
  if (!capacity) return "a size such as 24GiB";
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

Problem read_threads(Settings& settings, std::string_view value) {
  if (value != "free" && value != "turns") return "free or turns";
  settings.threads = value == "turns" ? Threads::turns : Threads::free;
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

Problem read_at_exit(Settings& settings, std::string_view value) {
  if (value != "usable" && value != "deinitialized") return "usable or deinitialized";
  settings.deinitialized_at_exit = value == "deinitialized";
  return std::nullopt;
}

// A reader of one part of the settings as a reader of the whole.
template <auto kMember, auto kRead>
Problem part(Settings& settings, std::string_view value) {
  return kRead(settings.*kMember, value);
}

struct Key {
  std::string_view name;
  Problem (*read)(Settings&, std::string_view);
};
constexpr Key kKeys[] = {
    {"devices", read_devices},
    {"capacity", read_capacity},
    {"profile", read_profile_name},
    {"data", read_data},
    {"schedule", read_schedule},
    {"seed", read_seed},
    {"threads", read_threads},
    {"hazards", read_hazards},
    {"vmm", part<&Settings::limits, read_vmm>},
    {"granularity", part<&Settings::limits, read_granularity>},
    {"rdma", part<&Settings::limits, read_rdma>},
    {"taken", part<&Settings::limits, read_taken>},
    {"largest_piece", part<&Settings::limits, read_largest_piece>},
    {"reserve_total", part<&Settings::limits, read_reserve_total>},
    {"register_call", part<&Settings::limits, read_register_call>},
    {"register_total", part<&Settings::limits, read_register_total>},
    {"reuse", part<&Settings::limits, read_reuse>},
    {"fault", part<&Settings::faults, read_fault>},
    {"stall", part<&Settings::faults, read_stall>},
    {"lost", part<&Settings::lost, read_lost>},
    {"slow", part<&Settings::engine_windows, read_slow>},
    {"stuck", part<&Settings::engine_windows, read_stuck>},
    {"at_exit", read_at_exit},
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Problem read_part(Settings& settings, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = trimmed(text.substr(0, equals));
  for (const Key& key : kKeys) {
    if (key.name != name) continue;
    if (equals == std::string_view::npos) return "KEY=VALUE";
    return key.read(settings, trimmed(text.substr(equals + 1)));
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
