// SPDX-License-Identifier: Apache-2.0
// Handle values for contexts, streams, events and memory pools. Never addresses of objects and
// never given twice, so that a stale handle, or one of another kind, is found out.
#pragma once

#include <cstdint>

namespace ferry::sim {

enum class HandleKind : std::uint64_t { context = 0xC, stream = 0x5, event = 0xE, pool = 0xB };

class HandleMaker {
 public:
  explicit HandleMaker(HandleKind kind) : kind_(kind) {}
  [[nodiscard]] std::uint64_t next() {
    return (static_cast<std::uint64_t>(kind_) << 40) + 16 * ++count_;
  }

 private:
  HandleKind kind_;
  std::uint64_t count_ = 0;
};

template <typename Handle>
[[nodiscard]] Handle to_handle(std::uint64_t value) {
  return reinterpret_cast<Handle>(value);
}

template <typename Handle>
[[nodiscard]] std::uint64_t value_of(Handle handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

}  // namespace ferry::sim
