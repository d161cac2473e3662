// SPDX-License-Identifier: Apache-2.0
// A profile of round figures, so that a test's expected picoseconds can be worked out by hand. Not
// a machine that exists.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>

#include "sim/time/profile.hpp"
#include "sim/time/virtual_clock.hpp"

namespace ferry::sim::testing_time {

inline constexpr std::int64_t kGigabytePerSecond = 1'000'000'000;
inline constexpr Picoseconds kMicro = 1'000'000;
inline constexpr Picoseconds kNano = 1'000;

// 1 GB/s is 1 byte per nanosecond. One way 10 GB/s and 8; both ways 5 and 6; the rest as below.
inline Profile round_profile() {
  Profile profile;
  profile.name = "round";
  profile.description = "Round figures for tests";
  profile.device_name = "Round device";
  profile.device_name_source = "made up";
  for (const FigureRow& row : kFigures) {
    Figure& figure = profile.*row.member;
    figure.source = "made up";
    if (row.quantity == Quantity::rate) figure.value = 10 * kGigabytePerSecond;
  }
  profile.compute_major.value = 8;
  profile.compute_minor.value = 6;
  profile.multiprocessors.value = 84;
  profile.device_memory.value = std::int64_t{1} << 30;
  profile.copy_engines.value = 2;
  profile.to_host.value = 8 * kGigabytePerSecond;
  profile.duplex_to_device.value = 5 * kGigabytePerSecond;
  profile.duplex_to_host.value = 6 * kGigabytePerSecond;
  profile.pageable_to_device.value = 2 * kGigabytePerSecond;
  profile.pageable_to_host.value = 4 * kGigabytePerSecond;
  profile.host_memory.value = 100 * kGigabytePerSecond;
  profile.host_memcpy.value = 5 * kGigabytePerSecond;
  profile.host_nodes.value = 2;
  profile.far_to_device.value = 4 * kGigabytePerSecond;
  profile.far_to_host.value = 2 * kGigabytePerSecond;
  profile.device_copy.value = 100 * kGigabytePerSecond;
  profile.device_fill.value = 200 * kGigabytePerSecond;
  profile.copy_latency.value = 2 * kMicro;
  profile.launch_latency.value = 3 * kMicro;
  profile.host_function.value = 7 * kMicro;
  profile.call.value = 100 * kNano;
  profile.copy.value = 1 * kMicro;
  profile.fill.value = 1 * kMicro;
  profile.launch.value = 4 * kMicro;
  profile.batch.value = 3 * kMicro;
  profile.batch_each.value = 500 * kNano;
  profile.event_record.value = 200 * kNano;
  profile.stream_wait.value = 300 * kNano;
  profile.query.value = 400 * kNano;
  profile.synchronize.value = 5 * kMicro;
  profile.alloc.value = 100 * kMicro;
  profile.alloc_mib.value = 10 * kMicro;
  profile.free.value = 50 * kMicro;
  profile.create.value = 80 * kMicro;
  profile.create_mib.value = 2 * kMicro;
  profile.map.value = 1 * kMicro;
  profile.set_access.value = 30 * kMicro;
  profile.set_access_each.value = 2 * kMicro;
  profile.unmap.value = 20 * kMicro;
  profile.unmap_each.value = 3 * kMicro;
  profile.host_alloc.value = 60 * kMicro;
  profile.host_alloc_mib.value = 40 * kMicro;
  profile.host_register.value = 10 * kMicro;
  profile.host_register_mib.value = 8 * kMicro;
  return profile;
}

// The same as JSON, in the finest units.
inline std::string to_json(const Profile& profile) {
  std::string text =
      fmt::format(R"({{"name": "{}", "description": "{}")", profile.name, profile.description);
  for (const char* section : {"device", "link", "host", "calls"}) {
    text += fmt::format(R"(, "{}": {{)", section);
    std::string separator;
    if (std::string_view(section) == "device") {
      text += fmt::format(R"("name": {{"value": "{}", "source": "made up", "sure": "inferred"}})",
                          profile.device_name);
      separator = ", ";
    }
    for (const FigureRow& row : kFigures) {
      if (row.section != section) continue;
      std::int64_t value = (profile.*row.member).value;
      const char* unit = "";
      if (row.quantity == Quantity::rate) unit = "B/s";
      if (row.quantity == Quantity::time) unit = "ps";
      if (row.quantity == Quantity::size) {
        unit = "MiB";
        value >>= 20;
      }
      text += fmt::format(
          R"({}"{}": {{"value": {}, "unit": "{}", "source": "made up", "sure": "inferred"}})",
          separator, row.key, value, unit);
      separator = ", ";
    }
    text += "}";
  }
  return text + "}";
}

}  // namespace ferry::sim::testing_time
