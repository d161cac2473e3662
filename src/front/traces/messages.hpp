// SPDX-License-Identifier: Apache-2.0
// Pieces of the sentences that the trace readers say about a file. Text from a file may hold
// anything, so it goes into a sentence only through `in_quotes`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ferry::replay {

// 'text' in single quotes, cut after 60 bytes, with everything that is not printable ASCII as \xNN.
[[nodiscard]] std::string in_quotes(std::string_view text);

// The text with control characters as \xNN, so that no name of a file can steer a terminal or break
// a line. Other bytes stay, also those that are not ASCII.
[[nodiscard]] std::string printable(std::string_view text);

// "1 free is", "3 frees are": a count with the words that go with it.
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view one,
                                  std::string_view several);

}  // namespace ferry::replay
