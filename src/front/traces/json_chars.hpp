// SPDX-License-Identifier: Apache-2.0
// The characters of a JSON stream for a parser that pulls one at a time. PyTorch's profiler writes
// NaN and Infinity, which JSON does not have: outside texts they become an empty text of the same
// length, so that every offset stays that of the file. Tokens are bounded, because the parser keeps
// each in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>

#include "front/traces/byte_source.hpp"

namespace ferry::replay {

inline constexpr std::uint64_t kLongestJsonToken = std::uint64_t{1} << 24;

class JsonChars {
 public:
  explicit JsonChars(ByteSource& source) : source_(source) {}

  // Whether there is one more character. The stream also ends where the source fails: see `error`.
  [[nodiscard]] bool more() { return at_ < ready_ || refill(); }
  [[nodiscard]] char current() const { return buffer_[at_]; }
  void advance() { ++at_; }

  [[nodiscard]] std::uint64_t offset() const { return dropped_ + at_; }  // of `current`
  [[nodiscard]] const std::optional<TraceError>& error() const { return error_; }

 private:
  bool refill();
  void filter();
  void replace_word(std::size_t length);
  [[nodiscard]] bool word_at(std::string_view word) const;

  ByteSource& source_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::size_t ready_ = 0;  // characters of the buffer that the filter has passed
  std::uint64_t dropped_ = 0;
  bool source_done_ = false;
  bool in_text_ = false;
  bool escaped_ = false;
  bool blank_ = false;       // the character before was one
  std::uint64_t token_ = 0;  // its length so far
  std::optional<TraceError> error_;
};

// An input iterator over JsonChars; a default-made one is the end.
class JsonCharIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  JsonCharIterator() = default;
  explicit JsonCharIterator(JsonChars& chars) : chars_(&chars) {}

  char operator*() const { return chars_->current(); }
  JsonCharIterator& operator++() {
    chars_->advance();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const JsonCharIterator& a, const JsonCharIterator& b) {
    return a.at_end() == b.at_end();
  }

 private:
  [[nodiscard]] bool at_end() const { return chars_ == nullptr || !chars_->more(); }
  JsonChars* chars_ = nullptr;
};

}  // namespace ferry::replay
