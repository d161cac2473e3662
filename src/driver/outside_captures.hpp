// SPDX-License-Identifier: Apache-2.0
// Keeps the program's captures out of Ferry's way, and Ferry out of theirs: while a stream
// captures, the driver refuses calls that wait, ask or allocate, whatever they are about, and
// spoils the capture (cuThreadExchangeStreamCaptureMode in cuda.h).
#pragma once

#include <optional>

#include "driver/driver.hpp"

namespace ferry {

// While it lives, calls of this thread are left alone by the captures of other streams. Requires:
// those calls concern no stream that captures, and no event that one has recorded.
class OutsideCaptures {
 public:
  explicit OutsideCaptures(const Driver& driver);
  ~OutsideCaptures();
  OutsideCaptures(const OutsideCaptures&) = delete;
  OutsideCaptures& operator=(const OutsideCaptures&) = delete;

 private:
  const Driver& driver_;
  std::optional<int> mode_;  // of the thread, CUstreamCaptureMode; nothing where it stayed
};

}  // namespace ferry
