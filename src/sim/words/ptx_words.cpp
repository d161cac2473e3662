// SPDX-License-Identifier: Apache-2.0
#include "sim/words/ptx_words.hpp"

#include <algorithm>
#include <cctype>

namespace ferry::sim {

namespace {

bool is_of_a_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '$' ||
         letter == '%' || letter == '.';
}

}  // namespace

std::string_view take_ptx_word(std::string_view& text) {
  const auto skip_behind = [&](std::string_view end, std::size_t from) {
    const std::size_t at = text.find(end, from);
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
  };
  while (!text.empty()) {
    if (std::isspace(static_cast<unsigned char>(text.front())) != 0) {
      text.remove_prefix(1);
    } else if (text.starts_with("//")) {
      skip_behind("\n", 2);
    } else if (text.starts_with("/*")) {
      skip_behind("*/", 2);
    } else if (text.front() == '"') {
      skip_behind("\"", 1);
    } else {
      break;
    }
  }
  std::size_t length = 0;
  while (length < text.size() && is_of_a_word(text[length])) ++length;
  const std::string_view word =
      text.substr(0, std::max(length, std::min<std::size_t>(text.size(), 1)));
  text.remove_prefix(word.size());
  return word;
}

bool is_ptx(std::string_view text) {
  return take_ptx_word(text) == ".version";
}

}  // namespace ferry::sim
