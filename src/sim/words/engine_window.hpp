// SPDX-License-Identifier: Apache-2.0
// The engines of a device, and stretches of virtual time in which one is slow or stands still:
//   ENGINE:FACTOR@FROM-UNTIL, such as to_device:4@10us-2ms, and ENGINE@FROM-UNTIL;
// DEVICE/ENGINE is that of one device only. Plain data and its reader.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/words/setting_values.hpp"

namespace ferry::sim {

// What carries an operation out. `none` has room for any number at once.
enum class EngineKind : std::uint8_t { none, to_device, to_host, peer, compute };

struct EngineWindow {
  std::optional<int> device;  // of all where none is named
  EngineKind engine = EngineKind::none;
  std::uint64_t slowdown = 1;  // 0: stands still
  std::int64_t from = 0;       // in picoseconds of virtual time
  std::int64_t until = 0;
};

[[nodiscard]] Problem read_slow(std::vector<EngineWindow>& windows, std::string_view value);
[[nodiscard]] Problem read_stuck(std::vector<EngineWindow>& windows, std::string_view value);

}  // namespace ferry::sim
