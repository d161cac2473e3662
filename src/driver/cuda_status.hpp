// SPDX-License-Identifier: Apache-2.0
// The one place where a CUresult becomes a Status. Internal to src/driver: higher floors see only
// the outcome. The result is passed as the int it is, so that this header needs no CUDA types.
#pragma once

#include "base/status.hpp"

namespace ferry {

// `site` is the name of the CUDA function that returned `result`, a string literal.
[[nodiscard]] Status cuda_status(int result, const char* site);

}  // namespace ferry
