// SPDX-License-Identifier: Apache-2.0
#include "driver/outside_captures.hpp"

#include "driver/cuda_table.hpp"

namespace ferry {

namespace {

// The mode that the thread had before. At process exit the driver may be gone; then no capture is
// left either.
int exchange_mode(const Driver& driver, int mode) {
  auto exchanged = static_cast<CUstreamCaptureMode>(mode);
  (void)driver.table().cuThreadExchangeStreamCaptureMode(&exchanged);
  return exchanged;
}

}  // namespace

OutsideCaptures::OutsideCaptures(const Driver& driver)
    : driver_(driver), mode_(exchange_mode(driver, CU_STREAM_CAPTURE_MODE_RELAXED)) {}

OutsideCaptures::~OutsideCaptures() {
  exchange_mode(driver_, mode_);
}

}  // namespace ferry
