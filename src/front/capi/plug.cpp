// SPDX-License-Identifier: Apache-2.0
// The pools of the process, one for each device, and over them the functions that torch's pluggable
// allocator calls. Its contract has no status: an exception is the only way to say no.
#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>

#include "ferry/pytorch.h"
#include "front/capi/c_errors.hpp"
#include "front/capi/pool_handles.hpp"

namespace {

using ferry::capi::fail;
using ferry::capi::guarded;
using ferry::capi::null_argument;

constexpr int kMostDevices = 256;

// Never destroyed: torch gives memory back until the very end of the process.
struct ProcessPools {
  std::array<std::atomic<ferry_device_pool*>, kMostDevices> of{};
  std::mutex making;
  std::atomic<uint64_t> limit{0};
};

ProcessPools& pools() {
  static auto* const all = new ProcessPools;
  return *all;
}

// The pool, or an exception with the C API's sentence.
ferry_device_pool* pool_of(int device) {
  ferry_device_pool* pool = nullptr;
  if (ferry_process_pool(device, &pool) != FERRY_OK) throw std::runtime_error(ferry_last_error());
  return pool;
}

template <typename Visitor>
void for_each_pool(const Visitor& visit) {
  for (std::atomic<ferry_device_pool*>& entry : pools().of) {
    if (ferry_device_pool* const pool = entry.load()) visit(pool);
  }
}

}  // namespace

ferry_status ferry_process_pool(int device, ferry_device_pool** pool) {
  constexpr const char* kName = "ferry_process_pool";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    if (device < 0 || device >= kMostDevices)
      return fail(FERRY_ERROR_NO_DEVICE,
                  "ferry_process_pool: there is no device " + std::to_string(device));
    std::atomic<ferry_device_pool*>& entry = pools().of[static_cast<std::size_t>(device)];
    *pool = entry.load(std::memory_order_acquire);
    if (*pool != nullptr) return FERRY_OK;
    const std::lock_guard lock(pools().making);
    *pool = entry.load();
    if (*pool != nullptr) return FERRY_OK;
    const ferry_device_pool_options options{sizeof(options), pools().limit.load()};
    const ferry_status status = ferry_device_pool_create(device, &options, pool);
    if (status == FERRY_OK) entry.store(*pool, std::memory_order_release);
    return status;
  });
}

ferry_status ferry_process_pool_limit(uint64_t limit_bytes) {
  return guarded("ferry_process_pool_limit", [&]() -> ferry_status {
    const std::lock_guard lock(pools().making);
    pools().limit = limit_bytes;
    for_each_pool(
        [&](ferry_device_pool* pool) { pool->pool->set_limit(ferry::Bytes{limit_bytes}); });
    return FERRY_OK;
  });
}

void* ferry_plug_allocate(size_t bytes, int device, void* stream) {
  void* pointer = nullptr;
  const ferry_status status = ferry_device_allocate(pool_of(device), bytes, stream, &pointer);
  if (status == FERRY_OK) return pointer;
  const std::string why = ferry_last_error();
  throw std::runtime_error(status == FERRY_ERROR_OUT_OF_MEMORY ? "CUDA out of memory. Ferry: " + why
                                                               : "Ferry: " + why);
}

void ferry_plug_free(void* pointer, size_t, int device, void* stream) {
  if (ferry_device_free(pool_of(device), pointer, stream) != FERRY_OK)
    throw std::runtime_error(std::string("Ferry: ") + ferry_last_error());
}

void ferry_plug_record_stream(void* pointer, void* stream) {
  if (pointer == nullptr) return;
  ferry_status status = FERRY_ERROR_NOT_OWNED;
  for_each_pool([&](ferry_device_pool* pool) {
    if (status == FERRY_ERROR_NOT_OWNED) status = ferry_device_record_use(pool, pointer, stream);
  });
  if (status != FERRY_OK) throw std::runtime_error(std::string("Ferry: ") + ferry_last_error());
}

void ferry_plug_set_memory_fraction(double fraction, int device) {
  ferry_device_pool* const pool = pool_of(device);
  const ferry::Result<ferry::MemoryInfo> memory = pool->device->memory_info();
  if (!memory) throw std::runtime_error("Ferry: the device does not say how much memory it has");
  const double share = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(memory->total.count);
  // 0 would mean no limit.
  const auto limit = std::max<uint64_t>(1, static_cast<uint64_t>(share));
  const uint64_t own = pools().limit.load();
  pool->pool->set_limit(ferry::Bytes{own != 0 ? std::min(own, limit) : limit});
}

void ferry_plug_empty_cache(void) {
  for_each_pool([](ferry_device_pool* pool) {
    if (ferry_device_pool_trim(pool, 0, nullptr) != FERRY_OK)
      throw std::runtime_error(std::string("Ferry: ") + ferry_last_error());
  });
}

void* ferry_plug_base_allocation(void* pointer, size_t*) {
  throw std::runtime_error(
      "Ferry: the base of an allocation is asked for to share it with another process, which "
      "memory of Ferry's pool cannot be yet (pointer " +
      std::to_string(reinterpret_cast<std::uintptr_t>(pointer)) + ")");
}
