// SPDX-License-Identifier: Apache-2.0
// The symbols of a cubin, which is an ELF file: kernels are its functions that are marked as
// entries, variables its objects in global and constant memory. The file may be hostile: nothing
// beyond it is read.
#pragma once

#include <optional>

#include "sim/words/image_symbols.hpp"

namespace ferry::sim {

// Nothing where it is no ELF file, or has no table of symbols.
[[nodiscard]] std::optional<ImageSymbols> read_cubin_symbols(ImageBytes file);

}  // namespace ferry::sim
