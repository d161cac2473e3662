// SPDX-License-Identifier: Apache-2.0
#include "driver/outside_captures.hpp"

#include "driver/cuda_table.hpp"

namespace ferry {

namespace {

// The mode that the thread had before; nothing where the driver refuses to change it. At process
// exit the driver may be gone; then no capture is left either.
std::optional<int> exchange_mode(const Driver& driver, int mode) {
  auto exchanged = static_cast<CUstreamCaptureMode>(mode);
  if (driver.table().cuThreadExchangeStreamCaptureMode(&exchanged) != CUDA_SUCCESS)
    return std::nullopt;
  return exchanged;
}

}  // namespace

OutsideCaptures::OutsideCaptures(const Driver& driver)
    : driver_(driver), mode_(exchange_mode(driver, CU_STREAM_CAPTURE_MODE_RELAXED)) {}

OutsideCaptures::~OutsideCaptures() {
  if (mode_) exchange_mode(driver_, *mode_);
}

}  // namespace ferry
