// SPDX-License-Identifier: Apache-2.0
#include "front/traces/line_reader.hpp"

#include <fmt/format.h>

#include <utility>

namespace ferry::replay {

Result<TextLine, TraceError> LineReader::next() {
  joined_.clear();
  TextLine line{{}, offset_, lines_ + 1};
  while (true) {
    if (chunk_.empty()) {
      auto chunk = source_.next();
      if (!chunk) return std::move(chunk).error();
      chunk_ = *chunk;
      if (chunk_.empty()) {
        if (joined_.empty()) return TextLine{};
        line.text = joined_;
        break;
      }
    }
    const std::size_t end = chunk_.find('\n');
    const std::string_view part = chunk_.substr(0, end);
    if (joined_.size() + part.size() > kLongestLine) {
      return TraceError{fmt::format("has a line of more than {} bytes", kLongestLine), line.offset};
    }
    const std::size_t used = end == std::string_view::npos ? part.size() : part.size() + 1;
    chunk_.remove_prefix(used);
    offset_ += used;
    if (end != std::string_view::npos && joined_.empty()) {
      line.text = part;
      break;
    }
    joined_ += part;
    if (end != std::string_view::npos) {
      line.text = joined_;
      break;
    }
  }
  ++lines_;
  if (line.text.ends_with('\r')) line.text.remove_suffix(1);
  return line;
}

}  // namespace ferry::replay
