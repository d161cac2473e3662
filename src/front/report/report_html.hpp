// SPDX-License-Identifier: Apache-2.0
// The page of `ferry replay --html`: one self-contained document that needs no network and no
// script, in the colours of the reader's system. Whatever a trace or its name holds is escaped.
#pragma once

#include <string>

#include "front/replay/replay_result.hpp"

namespace ferry::replay {

[[nodiscard]] std::string render_html(const ReplayReport& report);

}  // namespace ferry::replay
