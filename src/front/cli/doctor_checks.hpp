// SPDX-License-Identifier: Apache-2.0
// What `ferry doctor` tries on a device. Each check does the real thing once and cleans up after
// itself.
#pragma once

#include <string>
#include <vector>

#include "driver/device.hpp"

namespace ferry::cli {

// One line of the doctor's answer.
struct Finding {
  std::string subject{};  // "virtual memory"
  bool ok = false;
  bool needed = true;    // false: Ferry has another way where this is missing
  std::string detail{};  // what was seen
  std::string remedy{};  // what to do; empty when ok
};

[[nodiscard]] std::vector<Finding> check_device(Device& device);

}  // namespace ferry::cli
