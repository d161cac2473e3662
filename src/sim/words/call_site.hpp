// SPDX-License-Identifier: Apache-2.0
// Where in the program a function of the driver was called: found at each call, for the price of a
// few loads, and put into words only when somebody asks. Requires: the exported functions and the
// gate are compiled with frame pointers (src/sim/CMakeLists.txt).
#pragma once

#include <string>

#include "sim/words/own_module.hpp"

namespace ferry::sim {

// What the calling convention puts where a frame pointer points to.
struct Frame {
  const Frame* caller;
  const void* return_address;
};

// The first return address outside the module, from `frame` outwards; null where there is none.
// Requires: every frame inside the module was made with a frame pointer.
[[nodiscard]] const void* first_outside(const Frame* frame, const OwnModule& module);

// The same for the stand-in, and for libraries that call it for others (go_between.hpp); null where
// it is linked into the program, or on other processors.
[[nodiscard]] const void* find_call_site(const void* frame_address);

// "upload(int)+0x2f in /home/me/prog (addr2line -Cfe /home/me/prog 0x11ae)": without the function
// where the module does not export it. Empty for null.
[[nodiscard]] std::string describe_call_site(const void* return_address);

}  // namespace ferry::sim
