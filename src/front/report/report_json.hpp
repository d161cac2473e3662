// SPDX-License-Identifier: Apache-2.0
// What a replay found out, as JSON for programs: the fields are a contract with scripts.
#pragma once

#include <string>

#include "front/replay/replay_result.hpp"

namespace ferry::replay {

// One object, with a newline at its end. Unknown figures are null; bytes of names that are not
// UTF-8 are replaced.
[[nodiscard]] std::string render_json(const ReplayReport& report);

// All cost tables, as one object of the same outer form.
[[nodiscard]] std::string render_cost_tables_json();

}  // namespace ferry::replay
