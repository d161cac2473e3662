// SPDX-License-Identifier: Apache-2.0
// What PTX text declares outside of its functions: `.entry NAME`, and variables in `.global` and
// `.const` memory, with arrays, vectors and initialisers. No more of the language is understood;
// what is not is passed over, save for faults that show by the way.
#pragma once

#include <string_view>

#include "sim/words/image_symbols.hpp"

namespace ferry::sim {

[[nodiscard]] ImageSymbols read_ptx_symbols(std::string_view text);

}  // namespace ferry::sim
