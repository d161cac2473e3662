// SPDX-License-Identifier: Apache-2.0
#include "sim/words/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>

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

Problem read_kernels(Settings& settings, std::string_view value) {
  if (value != "known" && value != "skipped") return "known or skipped";
  settings.skips_unknown_kernels = value == "skipped";
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
  bool repeats = false;  // adds to a list, so that a text may have it several times
};
constexpr Key kKeys[] = {
    {"devices", read_devices},
    {"capacity", read_capacity},
    {"profile", read_profile_name},
    {"data", read_data},
    {"kernels", read_kernels},
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
    {"fault", part<&Settings::faults, read_fault>, true},
    {"stall", part<&Settings::faults, read_stall>, true},
    {"lost", part<&Settings::lost, read_lost>, true},
    {"slow", part<&Settings::engine_windows, read_slow>, true},
    {"stuck", part<&Settings::engine_windows, read_stuck>, true},
    {"at_exit", read_at_exit},
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The parts of a text by their keys; empty for a key that it does not have.
using Parts = std::array<std::string_view, std::size(kKeys)>;

std::string_view part_of(const Parts& parts, std::string_view name) {
  for (std::size_t i = 0; i < std::size(kKeys); ++i) {
    if (kKeys[i].name == name) return parts[i];
  }
  return {};
}

std::string names_of(bool only_repeating) {
  std::string names;
  for (const Key& key : kKeys) {
    if (only_repeating && !key.repeats) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", key.name);
  }
  return names;
}

Problem read_part(Settings& settings, Parts& parts, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = trimmed(text.substr(0, equals));
  for (std::size_t i = 0; i < std::size(kKeys); ++i) {
    const Key& key = kKeys[i];
    if (key.name != name) continue;
    if (equals == std::string_view::npos) return "KEY=VALUE";
    if (!key.repeats && !parts[i].empty()) {
      return fmt::format("{} only once, and there is '{}' (these may repeat: {})", name, parts[i],
                         names_of(true));
    }
    parts[i] = text;
    return key.read(settings, trimmed(text.substr(equals + 1)));
  }
  return "one of the keys " + names_of(false);
}

std::string not_understood(std::string_view part, std::string_view expected) {
  return fmt::format("'{}' is not understood; expected {}", part, expected);
}

// Of the keys that do not fit together, what the text says of the first that it has.
std::string_view blamed(const Parts& parts, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const std::string_view part = part_of(parts, key); !part.empty()) return part;
  }
  return *keys.begin();  // not reached: what was there before the text fitted together
}

std::string_view missing_unit(std::string_view part) {
  const bool digit = part.back() >= '0' && part.back() <= '9';
  return digit ? " (is a unit such as GiB missing?)" : "";
}

// Plain memory comes in pieces of 2 MiB, that of cuMemCreate in those of the granularity.
Bytes smallest_piece(const Settings& settings) {
  constexpr Bytes kPlain = 2_MiB;
  return settings.limits.virtual_memory ? std::min(kPlain, settings.limits.granularity) : kPlain;
}

// Sizes that can each be read, but leave no memory at all where they meet. A profile's own capacity
// is not known here.
std::optional<std::string> misfit(const Settings& settings, const Parts& parts) {
  const MachineLimits& limits = settings.limits;
  const Bytes least = smallest_piece(settings);
  const auto too_small = [&](std::string_view key) {
    const std::string_view part = blamed(parts, {key, "granularity", "vmm"});
    return not_understood(part, fmt::format("a {} of at least {}, the smallest piece of memory{}",
                                            key, format_bytes(least), missing_unit(part)));
  };
  if (settings.capacity < least) return too_small("capacity");
  if (limits.largest_piece && *limits.largest_piece < least) return too_small("largest_piece");
  const bool capacity_known = settings.capacity_given || settings.profile.empty();
  if (capacity_known && limits.taken > settings.capacity) {
    return not_understood(
        blamed(parts, {"taken", "capacity"}),
        fmt::format("taken to be at most the capacity, {}", format_bytes(settings.capacity)));
  }
  return std::nullopt;
}

}  // namespace

Result<Settings, std::string> apply_settings(const Settings& base, std::string_view text) {
  Settings settings = base;
  Parts parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view part = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part.empty()) continue;
    if (const Problem expected = read_part(settings, parts, part))
      return not_understood(part, *expected);
  }
  if (std::optional<std::string> error = misfit(settings, parts)) return *std::move(error);
  return settings;
}

}  // namespace ferry::sim
