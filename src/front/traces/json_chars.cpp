// SPDX-License-Identifier: Apache-2.0
#include "front/traces/json_chars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace ferry::replay {
namespace {

constexpr std::string_view kNaN = "NaN";
constexpr std::string_view kInfinity = "Infinity";
constexpr std::string_view kMinusInfinity = "-Infinity";

}  // namespace

bool JsonChars::word_at(std::string_view word) const {
  return std::string_view(buffer_).substr(ready_).starts_with(word);
}

void JsonChars::replace_word(std::size_t length) {
  std::fill_n(buffer_.begin() + static_cast<std::ptrdiff_t>(ready_), length, ' ');
  buffer_[ready_] = '"';
  buffer_[ready_ + 1] = '"';
  ready_ += length;
}

bool JsonChars::refill() {
  if (error_) return false;
  dropped_ += at_;
  buffer_.erase(0, at_);
  ready_ -= at_;
  at_ = 0;
  while (ready_ == 0) {
    if (source_done_) return false;
    auto chunk = source_.next();
    if (!chunk) {
      error_ = std::move(chunk).error();
      return false;
    }
    source_done_ = chunk->empty();
    buffer_ += *chunk;
    filter();
    if (error_) return false;
  }
  return true;
}

// Passes characters on, but for the last few: a word may go on in the next chunk.
void JsonChars::filter() {
  const std::size_t held_back = source_done_ ? 0 : kMinusInfinity.size() - 1;
  while (ready_ + held_back < buffer_.size()) {
    const char c = buffer_[ready_];
    if (++token_ > kLongestJsonToken) {
      error_ = TraceError{fmt::format("has a text, a number or blanks of more than {}",
                                      format_bytes(Bytes{kLongestJsonToken})),
                          dropped_ + ready_};
      return;
    }
    if (in_text_) {
      in_text_ = escaped_ || c != '"';
      escaped_ = !escaped_ && c == '\\';
      ++ready_;
      continue;
    }
    switch (c) {
      case '"':
        in_text_ = true;
        escaped_ = false;
        token_ = 0;
        break;
      case ' ':
      case '\t':
      case '\r':
      case '\n':
        // The parser keeps blanks like a token.
        if (!blank_) token_ = 0;
        blank_ = true;
        ++ready_;
        continue;
      case ',':
      case ':':
      case '[':
      case ']':
      case '{':
      case '}':
        token_ = 0;
        break;
      case 'N':
        if (word_at(kNaN)) {
          replace_word(kNaN.size());
          continue;
        }
        break;
      case 'I':
        if (word_at(kInfinity)) {
          replace_word(kInfinity.size());
          continue;
        }
        break;
      case '-':
        if (word_at(kMinusInfinity)) {
          replace_word(kMinusInfinity.size());
          continue;
        }
        break;
      default:
        break;
    }
    blank_ = false;
    ++ready_;
  }
}

}  // namespace ferry::replay
