// SPDX-License-Identifier: Apache-2.0
// The one function that Python calls: it puts Ferry in torch's places, all of them.
#include <ATen/core/CachingHostAllocator.h>

#include <exception>
#include <string>

#include "allocator.hpp"
#include "pinned.hpp"

namespace ferry_torch {

Api& api() {
  static Api functions;
  return functions;
}

void check(ferry_status status) {
  TORCH_CHECK(status == FERRY_OK, "Ferry: ", api().last_error());
}

}  // namespace ferry_torch

// NULL where it is done, else what is wrong. `driver` may be empty; `limit` 0: what a device gives.
extern "C" __attribute__((visibility("default"))) const char* ferry_torch_enable(
    const char* library, const char* driver, uint64_t limit, int pinned) noexcept {
  static std::string trouble;
  using namespace ferry_torch;
  try {
    static bool enabled = false;
    if (enabled) return nullptr;
    if (cca::CUDAAllocator* const current = cca::allocator.load();
        current != nullptr && current->initialized())
      return "CUDA was used already, and another allocator serves it";
    trouble = api().load(library);
    if (!trouble.empty()) return trouble.c_str();
    // Never destroyed: tensors are given back until the very end of the process.
    auto* const allocator = new Allocator(Settings{driver, limit});
    constexpr uint8_t kAboveTorchs = 10;
    cca::allocator.store(allocator);
    // torch.accelerator asks here.
    c10::SetAllocator(c10::DeviceType::CUDA, allocator, kAboveTorchs);
    if (pinned != 0) at::setHostAllocator(at::kCUDA, &pinned_allocator(), kAboveTorchs);
    enabled = true;
    return nullptr;
  } catch (const std::exception& error) {
    trouble = error.what();
    return trouble.c_str();
  }
}
