// SPDX-License-Identifier: Apache-2.0
// What the stand-in does not do, told to the person who runs the program, and in the driver's log:
// each thing once.
#pragma once

#include <string_view>

namespace ferry::sim {

// Requires the library's lock.
void say_once(std::string_view what);

}  // namespace ferry::sim
