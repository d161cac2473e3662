// SPDX-License-Identifier: Apache-2.0
// Which functions a thread may not call while a capture keeps it from "potentially unsafe" ones:
// cuda.h gives the term (cuThreadExchangeStreamCaptureMode) and one example, not the list. Here
// they are those that wait for work, ask about it, or change memory outside the order of streams.
// (Where an event, a stream or a copy can break a more particular rule, that one is asked first:
// see capture_access.) Reserving, creating and mapping memory (cuMemAddressReserve, cuMemCreate,
// cuMemMap ...) is left free, as programs that grow their memory that way while they capture rely
// on it.
#pragma once

#include "sim/words/symbols.hpp"

namespace ferry::sim {

[[nodiscard]] bool is_unsafe_in_capture(Symbol symbol);

}  // namespace ferry::sim
