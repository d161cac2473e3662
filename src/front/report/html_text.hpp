// SPDX-License-Identifier: Apache-2.0
// Text for the report page: foreign text made safe for HTML, and figures written the same way in
// every locale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.hpp"

namespace ferry::replay {

// `text` as it may stand inside an element or a quoted attribute. Bytes that are not UTF-8 and
// control characters other than tab and line feed become U+FFFD.
[[nodiscard]] std::string escape_html(std::string_view text);

// "1,234,567".
[[nodiscard]] std::string grouped(std::uint64_t number);

// Up to three decimals, so that figures of gigabytes differ where they are a few megabytes apart:
// "11.571 GiB", "904.2 MiB", "512 B". A no-break space keeps the unit with its number.
[[nodiscard]] std::string precise_bytes(Bytes bytes, std::string_view space = "\u00A0");

// "1.006×"; a dash where `whole` is zero.
[[nodiscard]] std::string ratio_text(Bytes part, Bytes whole);

// "1 event", "2,000 events".
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view noun);

}  // namespace ferry::replay
