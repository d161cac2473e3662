// SPDX-License-Identifier: Apache-2.0
// What ferry_device_pool and ferry_pinned_pool point to.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "ferry/ferry.h"
#include "memory/device_pool.hpp"
#include "memory/pinned_pool.hpp"

struct ferry_device_pool {
  std::unique_ptr<ferry::Device> device;  // outlives the pool
  std::unique_ptr<ferry::DevicePool> pool;
};

// What was made of a handle refers to it, so that it may not go first; each counts what it has.
struct ferry_pinned_pool {
  std::unique_ptr<ferry::Device> device;  // outlives the pool
  std::unique_ptr<ferry::PinnedPool> pool;
  std::atomic<std::size_t> engines{0};
};
