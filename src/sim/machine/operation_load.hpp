// SPDX-License-Identifier: Apache-2.0
// What an operation asks of the modelled machine, worked out from its name and the bytes that it
// touches: the exported functions need not know of time.
#pragma once

#include <cstdint>
#include <span>

#include "sim/hazards/touch.hpp"
#include "sim/machine/machine.hpp"
#include "sim/time/timeline.hpp"
#include "sim/words/symbols.hpp"

namespace ferry::sim {

struct OperationLoad {
  Load load;
  std::uint64_t members = 1;  // of a batch
  // It goes through the driver's own staging buffers, or over the host's own core: charged as
  // holding the caller to its end, whatever the function's name says.
  bool holds_caller = false;
};

// `device` is that of the stream. Nothing is asked for without a profile.
[[nodiscard]] OperationLoad load_of(Machine& machine, Symbol symbol, int device,
                                    std::span<const Touch> touches);

}  // namespace ferry::sim
