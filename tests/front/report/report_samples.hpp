// SPDX-License-Identifier: Apache-2.0
// Replay results for the tests of the page, and a check that a page's elements are nested properly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "front/replay/replay_result.hpp"

namespace ferry::replay {

// Eight events, 100 MiB live at most, 101 MiB held by Ferry, 120 MiB recorded; a cold pass of five
// driver calls and a second one of none.
inline DeviceResult sample_device() {
  DeviceResult device;
  device.events = 8;
  device.peak_live = 100_MiB;
  device.peak_reserved = 101_MiB;
  device.recorded_peak_reserved = 120_MiB;
  device.recorded_reserved = {{0, 60_MiB}, {4, 120_MiB}};
  device.completed = true;
  device.timeline = {{0, 40_MiB, 50_MiB}, {3, 100_MiB, 101_MiB}, {6, 20_MiB, 101_MiB}};
  device.marks = {{0, 3}, {3, 2}};
  device.pair_ns_p50 = 38.4;
  device.pair_ns_p99 = 211.6;
  PassResult cold;
  cold.calls.by_kind[static_cast<std::size_t>(DriverCall::create)].calls = 4;
  cold.calls.by_kind[static_cast<std::size_t>(DriverCall::map)].calls = 1;
  cold.driver_ms = 1.25;
  cold.peak_reserved = 101_MiB;
  device.passes = {cold, PassResult{}};
  return device;
}

inline ReplayReport sample_report() {
  ReplayReport report;
  report.costs = "a100";
  report.driver = "stand-in (modelled)";
  report.schedule = "lazy";
  FileResult file;
  file.name = "step.pickle";
  file.format = "PyTorch snapshot";
  file.devices = {sample_device()};
  report.files = {file};
  return report;
}

// The name of the first element that is closed wrongly or not at all; empty when there is none.
// Knows the elements without an end tag that the page uses; the text must hold no comment.
inline std::string misnested_element(std::string_view html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string_view::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    if (end == std::string_view::npos) return "unclosed tag";
    const std::string_view tag = html.substr(at + 1, end - at - 1);
    const std::size_t slash = tag.starts_with('/') ? 1 : 0;
    const std::string name(tag.substr(slash, tag.find_first_of(" /", slash) - slash));
    if (name == "!DOCTYPE" || name == "meta" || tag.ends_with('/')) continue;
    if (slash == 0) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return name;
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? std::string() : open.back();
}

inline std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

}  // namespace ferry::replay
