// SPDX-License-Identifier: Apache-2.0
// Which streams are the same: handle 0 and handle 1 both name the legacy default stream, and handle
// 2 names another stream in each thread.
#pragma once

#include <cstdint>

#include "base/ids.hpp"

namespace ferry {

[[nodiscard]] inline std::uint64_t stream_key(StreamRef stream) {
  constexpr std::uintptr_t kLegacyHandle = 1;
  constexpr std::uintptr_t kPerThreadHandle = 2;
  if (stream.key() == kLegacyHandle) return 0;
  if (stream.key() != kPerThreadHandle) return stream.key();
  thread_local const char thread_mark =
      0;  // its address names the thread and is no driver's handle
  return reinterpret_cast<std::uintptr_t>(&thread_mark);
}

}  // namespace ferry
