// SPDX-License-Identifier: Apache-2.0
// What a replay found out, as text for people: one block of aligned lines for each device of a
// file, and at the end what the figures rest on.
#pragma once

#include <string>
#include <string_view>

#include "front/replay/replay_result.hpp"

namespace ferry::replay {

[[nodiscard]] std::string render_table(const ReplayReport& report);

// Breaks text at spaces into lines of at most `width` columns; each line but the first begins with
// `indent` spaces, and the first has `indent` columns before it that are the caller's.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t indent, std::size_t width);

}  // namespace ferry::replay
