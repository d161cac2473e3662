// SPDX-License-Identifier: Apache-2.0
// The picture of one device's replay: live memory, what PyTorch recorded and what Ferry held over
// the events, and a strip below with Ferry's driver calls. Inline SVG in a <figure>, styled by
// html_style.hpp; without a script, a column under the pointer shows its figures.
#pragma once

#include <string>
#include <string_view>

#include "front/replay/replay_result.hpp"

namespace ferry::replay {

// `id` is unique in the page and a valid XML name; `title` and `description` are plain text, for
// those who cannot see the chart.
[[nodiscard]] std::string memory_chart(const DeviceResult& device, std::string_view id,
                                       std::string_view title, std::string_view description);

}  // namespace ferry::replay
