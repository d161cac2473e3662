// SPDX-License-Identifier: Apache-2.0
// The names that floors pass to each other: devices, addresses, streams. All opaque above the
// driver.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/bytes.hpp"

namespace ferry {

struct DeviceId {
  int ordinal = 0;
  constexpr auto operator<=>(const DeviceId&) const = default;
};

// An address in device memory. Never dereferenced on the host.
struct DeviceAddress {
  std::uint64_t value = 0;

  constexpr auto operator<=>(const DeviceAddress&) const = default;
  [[nodiscard]] constexpr bool is_null() const { return value == 0; }
  friend constexpr DeviceAddress operator+(DeviceAddress a, Bytes n) {
    return DeviceAddress{a.value + n.count};
  }
  friend constexpr Bytes operator-(DeviceAddress a, DeviceAddress b) {
    return Bytes{a.value - b.value};
  }
};

// A CUDA stream handle as its caller gave it. 0 is the legacy default stream, 2 the per-thread one.
class StreamRef {
 public:
  constexpr StreamRef() = default;
  explicit StreamRef(void* handle) : handle_(reinterpret_cast<std::uintptr_t>(handle)) {}
  StreamRef(std::nullptr_t) = delete;
  StreamRef(int) = delete;

  [[nodiscard]] void* native() const { return reinterpret_cast<void*>(handle_); }
  [[nodiscard]] constexpr std::uintptr_t key() const { return handle_; }
  constexpr auto operator<=>(const StreamRef&) const = default;

  [[nodiscard]] static constexpr StreamRef legacy_default() { return StreamRef{}; }

 private:
  std::uintptr_t handle_ = 0;
};

}  // namespace ferry

template <>
struct std::hash<ferry::DeviceAddress> {
  std::size_t operator()(ferry::DeviceAddress a) const noexcept {
    return std::hash<std::uint64_t>{}(a.value);
  }
};
template <>
struct std::hash<ferry::StreamRef> {
  std::size_t operator()(ferry::StreamRef s) const noexcept {
    return std::hash<std::uintptr_t>{}(s.key());
  }
};
