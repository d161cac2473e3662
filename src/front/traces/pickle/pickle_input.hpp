// SPDX-License-Identifier: Apache-2.0
// The bytes of a pickle, read from front to back by the decoder. Never reads beyond the end; the
// first thing that goes wrong is kept with the offset of the opcode that asked for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "front/traces/pickle/pickle_opcodes.hpp"
#include "front/traces/trace.hpp"

namespace ferry::replay {

class PickleInput {
 public:
  explicit PickleInput(std::string_view source) : source_(source) {}

  [[nodiscard]] bool at_end() const { return at_ == source_.size(); }
  [[nodiscard]] std::uint64_t at() const { return at_; }
  [[nodiscard]] std::uint64_t size() const { return source_.size(); }
  [[nodiscard]] std::uint64_t opcode_at() const { return opcode_at_; }

  // Requires that the end is not reached.
  [[nodiscard]] Opcode opcode();

  // These return false after `fail`.
  [[nodiscard]] bool take(std::uint64_t length, std::string_view& out);
  [[nodiscard]] bool take_number(unsigned bytes, std::uint64_t& out);  // lowest byte first
  [[nodiscard]] bool take_line(std::string_view& out);                 // without its newline

  bool fail(std::string message);  // always false
  [[nodiscard]] const std::optional<TraceError>& error() const { return error_; }

 private:
  std::string_view source_;
  std::uint64_t at_ = 0;
  std::uint64_t opcode_at_ = 0;
  std::optional<TraceError> error_;
};

}  // namespace ferry::replay
