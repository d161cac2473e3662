// SPDX-License-Identifier: Apache-2.0
// The lines of a byte source, one at a time, with the offset where each begins. Lines are bounded,
// so a file without any line end takes no memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "front/traces/byte_source.hpp"

namespace ferry::replay {

inline constexpr std::size_t kLongestLine = 64 * 1024;

struct TextLine {
  std::string_view text;     // without its end, "\n" or "\r\n"; valid until the next call
  std::uint64_t offset = 0;  // of its first byte
  std::uint64_t number = 0;  // from 1; 0 when there is no line any more
};

class LineReader {
 public:
  explicit LineReader(ByteSource& source) : source_(source) {}

  // The last line may lack its end.
  [[nodiscard]] Result<TextLine, TraceError> next();

 private:
  ByteSource& source_;
  std::string_view chunk_;
  std::string joined_;  // a line that began in an earlier chunk
  std::uint64_t offset_ = 0;
  std::uint64_t lines_ = 0;
};

}  // namespace ferry::replay
