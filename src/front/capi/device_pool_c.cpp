// SPDX-License-Identifier: Apache-2.0
// The C API of the device pool: checks of arguments, then the pool's own functions.
#include <algorithm>
#include <cstring>
#include <memory>

#include "front/capi/c_errors.hpp"
#include "front/capi/known_struct.hpp"
#include "front/capi/pool_handles.hpp"
#include "front/process.hpp"

namespace {

using ferry::Bytes;
using ferry::DeviceAddress;
using ferry::StreamRef;
using ferry::capi::answer;
using ferry::capi::answer_about_stream;
using ferry::capi::fail;
using ferry::capi::fail_about_device;
using ferry::capi::guarded;
using ferry::capi::null_argument;
using ferry::capi::write_known;

DeviceAddress address_of(void* pointer) {
  return DeviceAddress{reinterpret_cast<std::uintptr_t>(pointer)};
}

ferry_device_pool_stats_t to_c(const ferry::DevicePoolStats& stats) {
  return ferry_device_pool_stats_t{
      .struct_size = sizeof(ferry_device_pool_stats_t),
      .allocated_bytes = stats.allocated_bytes.count,
      .allocated_bytes_peak = stats.allocated_bytes_peak.count,
      .requested_bytes = stats.requested_bytes.count,
      .requested_bytes_peak = stats.requested_bytes_peak.count,
      .reserved_bytes = stats.reserved_bytes.count,
      .reserved_bytes_peak = stats.reserved_bytes_peak.count,
      .fenced_bytes = stats.fenced_bytes.count,
      .slack_bytes = stats.slack_bytes.count,
      .allocations = stats.allocations,
      .allocations_total = stats.allocations_total,
      .frees_total = stats.frees_total,
      .chunks = stats.chunks,
      .chunks_moved = stats.chunks_moved,
      .num_alloc_retries = stats.num_alloc_retries,
      .num_ooms = stats.num_ooms,
      .num_sync_all_streams = stats.num_sync_all_streams,
      .quarantined_blocks = stats.quarantined_blocks,
  };
}

}  // namespace

ferry_status ferry_device_pool_create(int device, const ferry_device_pool_options* options,
                                      ferry_device_pool** pool) {
  constexpr const char* kName = "ferry_device_pool_create";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    if (options != nullptr && options->struct_size < sizeof(ferry_device_pool_options)) {
      return fail(FERRY_ERROR_INVALID_ARGUMENT,
                  "ferry_device_pool_create: options->struct_size is not set; set it to "
                  "sizeof(ferry_device_pool_options)");
    }
    const ferry::Driver* const driver = ferry::process_driver();
    if (driver == nullptr)
      return fail(FERRY_ERROR_NOT_INITIALIZED, "ferry_device_pool_create: call ferry_init first");
    ferry::Result<std::unique_ptr<ferry::Device>> opened =
        ferry::Device::open(*driver, ferry::DeviceId{device});
    if (!opened) return fail_about_device(opened.error(), *driver, device, kName);
    const Bytes limit{options != nullptr ? options->limit_bytes : 0};
    ferry::Result<std::unique_ptr<ferry::DevicePool>> created =
        ferry::DevicePool::create(**opened, {.limit = limit});
    if (!created) return fail(created.error(), kName);
    *pool = new ferry_device_pool{std::move(opened).value(), std::move(created).value()};
    return FERRY_OK;
  });
}

ferry_status ferry_device_pool_destroy(ferry_device_pool* pool) {
  constexpr const char* kName = "ferry_device_pool_destroy";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    pool->pool.reset();
    delete pool;
    return FERRY_OK;
  });
}

ferry_status ferry_device_allocate(ferry_device_pool* pool, size_t bytes, void* stream,
                                   void** pointer) {
  constexpr const char* kName = "ferry_device_allocate";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    if (pointer == nullptr) return null_argument(kName, "pointer");
    const ferry::Result<DeviceAddress> address =
        pool->pool->allocate(Bytes{bytes}, StreamRef(stream));
    if (!address) {
      if (address.error().code() != ferry::Code::out_of_memory)
        return answer_about_stream(address.error(), stream, kName);
      return fail(FERRY_ERROR_OUT_OF_MEMORY, pool->pool->out_of_memory_report());
    }
    *pointer = reinterpret_cast<void*>(address->value);
    return FERRY_OK;
  });
}

ferry_status ferry_device_free(ferry_device_pool* pool, void* pointer, void* stream) {
  constexpr const char* kName = "ferry_device_free";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    return answer_about_stream(pool->pool->free(address_of(pointer), StreamRef(stream)), stream,
                               kName);
  });
}

ferry_status ferry_device_record_use(ferry_device_pool* pool, void* pointer, void* stream) {
  constexpr const char* kName = "ferry_device_record_use";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    return answer_about_stream(pool->pool->record_use(address_of(pointer), StreamRef(stream)),
                               stream, kName);
  });
}

ferry_status ferry_device_stream_will_end(ferry_device_pool* pool, void* stream) {
  constexpr const char* kName = "ferry_device_stream_will_end";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    pool->pool->stream_will_end(StreamRef(stream));
    return FERRY_OK;
  });
}

ferry_status ferry_device_pool_trim(ferry_device_pool* pool, uint64_t keep_bytes,
                                    uint64_t* returned_bytes) {
  constexpr const char* kName = "ferry_device_pool_trim";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    const ferry::Result<Bytes> returned = pool->pool->trim(Bytes{keep_bytes});
    if (!returned) return fail(returned.error(), kName);
    if (returned_bytes != nullptr) *returned_bytes = returned->count;
    return FERRY_OK;
  });
}

ferry_status ferry_device_pool_set_limit(ferry_device_pool* pool, uint64_t limit_bytes) {
  constexpr const char* kName = "ferry_device_pool_set_limit";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    pool->pool->set_limit(Bytes{limit_bytes});
    return FERRY_OK;
  });
}

ferry_status ferry_device_pool_open_to(ferry_device_pool* pool, int peer) {
  constexpr const char* kName = "ferry_device_pool_open_to";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    return answer(pool->pool->open_to(ferry::DeviceId{peer}), kName);
  });
}

ferry_status ferry_device_pool_stats(ferry_device_pool* pool, ferry_device_pool_stats_t* stats) {
  constexpr const char* kName = "ferry_device_pool_stats";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    if (stats == nullptr) return null_argument(kName, "stats");
    return write_known(to_c(pool->pool->stats()), stats,
                       "ferry_device_pool_stats: stats->struct_size is not set; set it to "
                       "sizeof(ferry_device_pool_stats_t)");
  });
}

ferry_status ferry_device_pool_audit(ferry_device_pool* pool) {
  constexpr const char* kName = "ferry_device_pool_audit";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    return answer(pool->pool->audit(), kName);
  });
}
