// SPDX-License-Identifier: Apache-2.0
// Whether memory of the program is still there.
#pragma once

#include <cstdint>

namespace ferry::sim {

// True where the system knows every page of the range: nothing of it was unmapped. Costs a call of
// the system.
[[nodiscard]] bool is_mapped(std::uint64_t address, std::uint64_t bytes);

}  // namespace ferry::sim
