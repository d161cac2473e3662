// SPDX-License-Identifier: Apache-2.0
// The operator of a framework that a thread is in: what the thread submits meanwhile is a part of
// it. Operators that begin within another one are parts of that. Belongs to one thread, so it needs
// no lock.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/words/framework_operator.hpp"

namespace ferry::sim {

struct AddressRange {
  std::uint64_t start = 0;
  std::uint64_t bytes = 0;

  [[nodiscard]] std::uint64_t end() const { return start + bytes; }
  [[nodiscard]] bool overlaps(const AddressRange& other) const {
    return start < other.end() && other.start < end();
  }
};

class OperatorScope {
 public:
  // `inputs`: the memory that is given to it.
  void begin(const FrameworkOperator* operation, std::span<const AddressRange> inputs);
  // False where none has begun.
  bool end();

  // The outermost; null where there is none.
  [[nodiscard]] const FrameworkOperator* current() const { return current_; }

  // One of its copies, fills or kernels of known code writes there.
  void note_write(std::uint64_t address, std::uint64_t bytes) {
    written_.push_back({address, bytes});
  }
  // Whether some of the memory was given to it.
  [[nodiscard]] bool is_given(std::uint64_t address, std::uint64_t bytes) const;
  // The parts of a range that are not written by itself as far as that is known.
  [[nodiscard]] std::vector<AddressRange> unwritten_in(const AddressRange& range) const;

 private:
  const FrameworkOperator* current_ = nullptr;
  unsigned depth_ = 0;
  std::vector<AddressRange> inputs_;
  std::vector<AddressRange> written_;
};

}  // namespace ferry::sim
