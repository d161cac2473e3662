// SPDX-License-Identifier: Apache-2.0
// Writes results so that nobody sees half of them and no failure passes unnoticed.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace ferry::replay {

// Replaces a regular file as a whole, or leaves what was there untouched; where only the file
// itself can be written (its folder cannot, or it is a mount of its own), and pipes and devices,
// are written to as they are. Answers "", or why not, as a sentence without the file's name.
[[nodiscard]] std::string write_file(const std::string& path, std::string_view text);

// Whether write_file could begin now, with the same answers; leaves nothing behind.
[[nodiscard]] std::string write_trouble(const std::string& path);

// Writes all of it out; the same answers.
[[nodiscard]] std::string write_stream(std::FILE* stream, std::string_view text);

}  // namespace ferry::replay
