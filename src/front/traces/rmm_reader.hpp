// SPDX-License-Identifier: Apache-2.0
// Reads the CSV log of RMM's logging adaptor: one device, which starts empty; one line for each
// allocation and free, found by the names in the header, so columns may come in any order and
// others may be there.
#pragma once

#include "front/traces/byte_source.hpp"

namespace ferry::replay {

// Fills in everything but the name.
[[nodiscard]] Result<Trace, TraceError> read_rmm_log(ByteSource& source);

// Whether bytes begin with the header of such a log.
[[nodiscard]] bool looks_like_rmm_log(std::string_view head);

}  // namespace ferry::replay
