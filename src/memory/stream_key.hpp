// SPDX-License-Identifier: Apache-2.0
// Which streams are the same: handle 0 and handle 1 both name the legacy default stream, and handle
// 2 names another stream in each thread. A key is to be kept, never asked for again from another
// thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/ids.hpp"

namespace ferry {

[[nodiscard]] inline bool is_per_thread(StreamRef stream) {
  constexpr std::uintptr_t kPerThreadHandle = 2;
  return stream.key() == kPerThreadHandle;
}

[[nodiscard]] inline bool is_default(StreamRef stream) {
  constexpr std::uintptr_t kLegacyHandle = 1;
  return stream.key() == 0 || stream.key() == kLegacyHandle || is_per_thread(stream);
}

[[nodiscard]] inline std::uint64_t stream_key(StreamRef stream) {
  if (is_per_thread(stream)) {
    // Counted, because the system gives thread ids and stacks again; no driver's handle has the
    // top bit.
    static std::atomic<std::uint64_t> threads{std::uint64_t{1} << 63};
    thread_local const std::uint64_t mine = ++threads;
    return mine;
  }
  return is_default(stream) ? 0 : stream.key();
}

}  // namespace ferry
