// SPDX-License-Identifier: Apache-2.0
#include "front/traces/pickle/pickle_input.hpp"

#include <fmt/format.h>

#include <utility>

namespace ferry::replay {

Opcode PickleInput::opcode() {
  opcode_at_ = at_;
  return static_cast<Opcode>(static_cast<unsigned char>(source_[at_++]));
}

bool PickleInput::take(std::uint64_t length, std::string_view& out) {
  const std::uint64_t left = source_.size() - at_;
  if (length > left) {
    return fail(
        fmt::format("is cut off: {} more bytes are announced and {} are there", length, left));
  }
  out = source_.substr(at_, length);
  at_ += length;
  return true;
}

bool PickleInput::take_number(unsigned bytes, std::uint64_t& out) {
  std::string_view raw;
  if (!take(bytes, raw)) return false;
  out = 0;
  for (unsigned i = 0; i < bytes; ++i) {
    out |= static_cast<std::uint64_t>(static_cast<unsigned char>(raw[i])) << (8 * i);
  }
  return true;
}

bool PickleInput::take_line(std::string_view& out) {
  const std::size_t end = source_.find('\n', at_);
  if (end == std::string_view::npos) return fail("is cut off in the middle of a line");
  out = source_.substr(at_, end - at_);
  at_ = end + 1;
  return true;
}

bool PickleInput::fail(std::string message) {
  if (!error_) error_ = TraceError{std::move(message), opcode_at_};
  return false;
}

}  // namespace ferry::replay
