// SPDX-License-Identifier: Apache-2.0
// The tables of figures of the report page, as HTML.
#pragma once

#include <string>

#include "front/replay/replay_result.hpp"

namespace ferry::replay {

// One row for each file: what the whole replay came to, at a glance. The names link to "#file-1",
// "#file-2", ...
[[nodiscard]] std::string overview_table(const ReplayReport& report);

// Memory, driver calls by kind, and time of one device.
[[nodiscard]] std::string device_tables(const DeviceResult& device, const std::string& costs);

// "completed", "out of memory", "not replayed": one word for how it went, coloured.
[[nodiscard]] std::string file_badge(const FileResult& file);
[[nodiscard]] std::string device_badge(const DeviceResult& device);

// The device whose figures stand for the file; null where there is none.
[[nodiscard]] const DeviceResult* worst_device_of(const FileResult& file);

}  // namespace ferry::replay
