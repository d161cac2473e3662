// SPDX-License-Identifier: Apache-2.0
// The C API of a device pool's private pools.
#include "front/capi/c_errors.hpp"
#include "front/capi/pool_handles.hpp"

namespace {

using ferry::Bytes;
using ferry::DeviceAddress;
using ferry::StreamRef;
using ferry::capi::answer_about_stream;
using ferry::capi::fail;
using ferry::capi::guarded;
using ferry::capi::null_argument;

ferry_status not_in_use(const char* function, uint64_t name) {
  return fail(FERRY_ERROR_INVALID_ARGUMENT,
              std::string(function) + ": the private pool " + std::to_string(name) +
                  " is not in use; call ferry_private_pool_retain first");
}

}  // namespace

ferry_status ferry_private_pool_retain(ferry_device_pool* pool, uint64_t name) {
  constexpr const char* kName = "ferry_private_pool_retain";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    if (name == 0)
      return fail(FERRY_ERROR_INVALID_ARGUMENT,
                  "ferry_private_pool_retain: 0 names no private pool; choose another number");
    pool->pool->retain_private(name);
    return FERRY_OK;
  });
}

ferry_status ferry_private_pool_release(ferry_device_pool* pool, uint64_t name) {
  constexpr const char* kName = "ferry_private_pool_release";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    return pool->pool->release_private(name) ? FERRY_OK : not_in_use(kName, name);
  });
}

ferry_status ferry_private_pool_use_count(ferry_device_pool* pool, uint64_t name, uint64_t* count) {
  constexpr const char* kName = "ferry_private_pool_use_count";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    if (count == nullptr) return null_argument(kName, "count");
    *count = pool->pool->private_uses(name);
    return FERRY_OK;
  });
}

ferry_status ferry_private_pool_allocate(ferry_device_pool* pool, uint64_t name, size_t bytes,
                                         void* stream, void** pointer) {
  constexpr const char* kName = "ferry_private_pool_allocate";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    if (pointer == nullptr) return null_argument(kName, "pointer");
    if (pool->pool->private_uses(name) == 0) return not_in_use(kName, name);
    const ferry::Result<DeviceAddress> address =
        pool->pool->allocate_private(name, Bytes{bytes}, StreamRef(stream));
    if (!address) {
      if (address.error().code() != ferry::Code::out_of_memory)
        return answer_about_stream(address.error(), stream, kName);
      return fail(FERRY_ERROR_OUT_OF_MEMORY, pool->pool->out_of_memory_report());
    }
    *pointer = reinterpret_cast<void*>(address->value);
    return FERRY_OK;
  });
}
