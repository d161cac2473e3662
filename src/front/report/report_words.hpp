// SPDX-License-Identifier: Apache-2.0
// What a replay found out, in sentences. Plain text; whoever puts it into a page escapes it.
#pragma once

#include <string>

#include "front/replay/replay_result.hpp"

namespace ferry::replay {

// "Ferry held at most 11.64 GiB for 11.57 GiB of live data (1.006×); PyTorch recorded 12.31 GiB
// (1.064×), 683.1 MiB more.", or why the replay did not complete.
[[nodiscard]] std::string result_sentence(const DeviceResult& device);

// The driver calls of the first and the last pass, and the smallest capacity if it was searched.
[[nodiscard]] std::string detail_sentences(const DeviceResult& device, const std::string& costs);

// "Driver: stand-in (modelled), schedule random, seed 7. Cost table: a100.": what the figures rest
// on.
[[nodiscard]] std::string setting_sentence(const ReplayReport& report);

// How to understand the figures: that the cost of driver calls is modelled, which calls count,
// which the table counts as free, and what a smallest capacity is where one was searched.
[[nodiscard]] std::string explanation(const ReplayReport& report);

}  // namespace ferry::replay
