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

bool is_digit(std::string_view text, std::size_t at) {
  return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
}

// A sign that belongs to a decimal number's exponent.
bool is_of_exponent(std::string_view text, std::size_t at) {
  if (at == 0 || (text[at] != '-' && text[at] != '+') || !is_digit(text, at + 1)) return false;
  if (text[at - 1] != 'e' && text[at - 1] != 'E') return false;
  return text.substr(0, at - 1).find_first_not_of("0123456789.") == std::string_view::npos &&
         (is_digit(text, 0) || is_digit(text, 1));
}

std::size_t length_of_word(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && (is_of_a_word(text[length]) || is_of_exponent(text, length))) {
    if (length > 0 && text[0] == '.' && text[length] == '.') break;  // directives may stand close
    ++length;
  }
  return std::max(length, std::min<std::size_t>(text.size(), 1));
}

}  // namespace

std::string_view take_ptx_word(std::string_view& text, bool* unclosed) {
  const auto skip_behind = [&](std::string_view end, std::size_t from) {
    const std::size_t at = text.find(end, from);
    if (at == std::string_view::npos && end != "\n" && unclosed != nullptr) *unclosed = true;
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
  const std::string_view word = text.substr(0, length_of_word(text));
  text.remove_prefix(word.size());
  return word;
}

bool is_ptx(std::string_view text) {
  return take_ptx_word(text) == ".version";
}

}  // namespace ferry::sim
