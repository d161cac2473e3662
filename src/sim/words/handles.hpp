// SPDX-License-Identifier: Apache-2.0
// Handle values for contexts, streams, events, modules, functions, libraries, kernels, memory pools
// and graphs. Never addresses of objects, and of no two kinds the same. Never given twice either,
// so that a stale handle is found out, unless that is asked for: a program must not rely on it.
#pragma once

#include <cstdint>
#include <vector>

namespace ferry::sim {

enum class HandleKind : std::uint64_t {
  context = 0xC,
  stream = 0x5,
  event = 0xE,
  module = 0xD,
  function = 0xF,
  pool = 0xB,
  library = 0xA,
  kernel = 0x9,
  graph = 0x6,
  node = 0x7,
  executable = 0x8,
};

class HandleMaker {
 public:
  explicit HandleMaker(HandleKind kind) : kind_(kind) {}
  [[nodiscard]] std::uint64_t next() {
    if (!free_.empty()) {
      const std::uint64_t handle = free_.back();
      free_.pop_back();
      return handle;
    }
    return (static_cast<std::uint64_t>(kind_) << 40) + 16 * ++count_;
  }
  void give_back(std::uint64_t handle) {
    if (reuse_at_once_) free_.push_back(handle);
  }
  void set_reuse_at_once(bool at_once) {
    reuse_at_once_ = at_once;
    if (!at_once) free_.clear();
  }

 private:
  HandleKind kind_;
  bool reuse_at_once_ = false;
  std::vector<std::uint64_t> free_;
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
