// SPDX-License-Identifier: Apache-2.0
// PTX text word by word. Pure functions.
#pragma once

#include <string_view>

namespace ferry::sim {

// Takes the next word or sign from the text, without comments and quoted text. Empty at its end;
// says so where that is in a comment or in quoted text.
[[nodiscard]] std::string_view take_ptx_word(std::string_view& text, bool* unclosed = nullptr);

// PTX begins with the directive .version, after comments and blank space.
[[nodiscard]] bool is_ptx(std::string_view text);

}  // namespace ferry::sim
