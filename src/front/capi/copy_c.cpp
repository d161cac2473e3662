// SPDX-License-Identifier: Apache-2.0
// The C API of pinned memory and copies: checks of arguments, then the functions of floors 2 and 3.
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "front/capi/c_errors.hpp"
#include "front/capi/pool_handles.hpp"
#include "front/process.hpp"
#include "transfer/copy_engine.hpp"

struct ferry_copy_engine {
  std::unique_ptr<ferry::CopyEngine> engine;
  ferry_pinned_pool& made_of;
  std::atomic<size_t> tickets{0};
};

struct ferry_ticket {
  ferry::Ticket ticket;
  ferry_copy_engine& made_of;
};

namespace {

using ferry::Bytes;
using ferry::CopyRequest;
using ferry::Failure;
using ferry::Result;
using ferry::Status;
using ferry::StreamRef;
using ferry::capi::answer;
using ferry::capi::answer_about_stream;
using ferry::capi::fail;
using ferry::capi::fail_about_device;
using ferry::capi::guarded;
using ferry::capi::null_argument;

std::vector<CopyRequest> to_requests(const ferry_copy_request* requests, size_t count) {
  std::vector<CopyRequest> converted;
  converted.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    converted.push_back({reinterpret_cast<std::uintptr_t>(requests[i].destination),
                         reinterpret_cast<std::uintptr_t>(requests[i].source),
                         Bytes{requests[i].bytes}});
  }
  return converted;
}

ferry_status refuse_to_destroy(const char* function, size_t count, const char* users,
                               const char* first) {
  return fail(FERRY_ERROR_INVALID_ARGUMENT, std::string(function) + ": in use by " +
                                                std::to_string(count) + ' ' + users +
                                                ", to be destroyed first with " + first);
}

ferry_status answer_about_pointer(const Status& status, const ferry::PinnedPool& pool,
                                  const void* pointer, const char* function) {
  return status ? FERRY_OK : fail(Failure(status, pool.place_of(pointer)), function);
}

}  // namespace

ferry_status ferry_pinned_pool_create(int device, ferry_pinned_pool** pool) {
  constexpr const char* kName = "ferry_pinned_pool_create";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    const ferry::Driver* const driver = ferry::process_driver();
    if (driver == nullptr)
      return fail(FERRY_ERROR_NOT_INITIALIZED, "ferry_pinned_pool_create: call ferry_init first");
    Result<std::unique_ptr<ferry::Device>> opened =
        ferry::Device::open(*driver, ferry::DeviceId{device});
    if (!opened) return fail_about_device(opened.error(), *driver, device, kName);
    auto made = std::make_unique<ferry::PinnedPool>(**opened);
    *pool = new ferry_pinned_pool{std::move(opened).value(), std::move(made), {}};
    return FERRY_OK;
  });
}

ferry_status ferry_pinned_pool_destroy(ferry_pinned_pool* pool) {
  constexpr const char* kName = "ferry_pinned_pool_destroy";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    if (const size_t engines = pool->engines; engines > 0)
      return refuse_to_destroy(kName, engines, "copy engine(s)", "ferry_copy_engine_destroy");
    pool->pool.reset();
    delete pool;
    return FERRY_OK;
  });
}

ferry_status ferry_pinned_allocate(ferry_pinned_pool* pool, size_t bytes, void** pointer) {
  constexpr const char* kName = "ferry_pinned_allocate";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    if (pointer == nullptr) return null_argument(kName, "pointer");
    const Result<void*> memory = pool->pool->allocate(Bytes{bytes});
    if (!memory) {
      if (memory.error().code() != ferry::Code::out_of_memory) return fail(memory.error(), kName);
      return fail(Failure(memory.error(), pool->pool->out_of_memory_report(Bytes{bytes})), kName);
    }
    *pointer = *memory;
    return FERRY_OK;
  });
}

ferry_status ferry_pinned_free(ferry_pinned_pool* pool, void* pointer) {
  constexpr const char* kName = "ferry_pinned_free";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    return answer_about_pointer(pool->pool->free(pointer), *pool->pool, pointer, kName);
  });
}

ferry_status ferry_pinned_record_use(ferry_pinned_pool* pool, const void* pointer, void* stream) {
  constexpr const char* kName = "ferry_pinned_record_use";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    const Status capturing = refuse_capturing(*pool->device, StreamRef(stream));
    if (!capturing) return answer_about_stream(capturing, stream, kName);
    const Status recorded = pool->pool->record_use(pointer, StreamRef(stream));
    if (recorded.code() == ferry::Code::not_owned)
      return answer_about_pointer(recorded, *pool->pool, pointer, kName);
    return answer_about_stream(recorded, stream, kName);
  });
}

ferry_status ferry_pinned_pool_trim(ferry_pinned_pool* pool, uint64_t keep_bytes,
                                    uint64_t* returned_bytes) {
  constexpr const char* kName = "ferry_pinned_pool_trim";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    const Result<Bytes> returned = pool->pool->trim(Bytes{keep_bytes});
    if (!returned) return fail(returned.error(), kName);
    if (returned_bytes != nullptr) *returned_bytes = returned->count;
    return FERRY_OK;
  });
}

ferry_status ferry_copy_engine_create(ferry_pinned_pool* pool, ferry_copy_engine** engine) {
  constexpr const char* kName = "ferry_copy_engine_create";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    if (engine == nullptr) return null_argument(kName, "engine");
    Result<std::unique_ptr<ferry::CopyEngine>> made =
        ferry::CopyEngine::create(*pool->device, *pool->pool);
    if (!made) return fail(made.error(), kName);
    *engine = new ferry_copy_engine{std::move(made).value(), *pool, {}};
    ++pool->engines;
    return FERRY_OK;
  });
}

ferry_status ferry_copy_engine_destroy(ferry_copy_engine* engine) {
  constexpr const char* kName = "ferry_copy_engine_destroy";
  return guarded(kName, [&]() -> ferry_status {
    if (engine == nullptr) return null_argument(kName, "engine");
    if (const size_t tickets = engine->tickets; tickets > 0)
      return refuse_to_destroy(kName, tickets, "ticket(s)", "ferry_ticket_destroy");
    ferry_pinned_pool& pool = engine->made_of;
    delete engine;
    --pool.engines;
    return FERRY_OK;
  });
}

ferry_status ferry_copy_batch(ferry_copy_engine* engine, const ferry_copy_request* requests,
                              size_t count, void* const* streams, size_t stream_count,
                              const ferry_ticket* const* tickets, size_t ticket_count,
                              ferry_ticket** ticket) {
  constexpr const char* kName = "ferry_copy_batch";
  return guarded(kName, [&]() -> ferry_status {
    if (engine == nullptr) return null_argument(kName, "engine");
    if (ticket == nullptr) return null_argument(kName, "ticket");
    if (requests == nullptr && count > 0) return null_argument(kName, "requests");
    if (streams == nullptr && stream_count > 0) return null_argument(kName, "streams");
    if (tickets == nullptr && ticket_count > 0) return null_argument(kName, "tickets");
    std::vector<StreamRef> after_streams;
    for (size_t i = 0; i < stream_count; ++i) after_streams.emplace_back(streams[i]);
    std::vector<const ferry::Ticket*> after_tickets;
    for (size_t i = 0; i < ticket_count; ++i) {
      if (tickets[i] == nullptr)
        return null_argument(kName, ("tickets[" + std::to_string(i) + "]").c_str());
      after_tickets.push_back(&tickets[i]->ticket);
    }
    Result<ferry::Ticket, Failure> submitted =
        engine->engine->submit(to_requests(requests, count), {after_streams, after_tickets});
    if (!submitted) return fail(submitted.error(), kName);
    *ticket = new ferry_ticket{std::move(submitted).value(), *engine};
    ++engine->tickets;
    return FERRY_OK;
  });
}

ferry_status ferry_ticket_is_complete(const ferry_ticket* ticket, int* complete) {
  constexpr const char* kName = "ferry_ticket_is_complete";
  return guarded(kName, [&]() -> ferry_status {
    if (ticket == nullptr) return null_argument(kName, "ticket");
    if (complete == nullptr) return null_argument(kName, "complete");
    const Result<bool> done = ticket->ticket.is_complete();
    if (!done) return fail(done.error(), kName);
    *complete = *done ? 1 : 0;
    return FERRY_OK;
  });
}

ferry_status ferry_ticket_wait(const ferry_ticket* ticket) {
  constexpr const char* kName = "ferry_ticket_wait";
  return guarded(kName, [&]() -> ferry_status {
    if (ticket == nullptr) return null_argument(kName, "ticket");
    return answer(ticket->ticket.wait(), kName);
  });
}

ferry_status ferry_ticket_wait_on(const ferry_ticket* ticket, void* stream) {
  constexpr const char* kName = "ferry_ticket_wait_on";
  return guarded(kName, [&]() -> ferry_status {
    if (ticket == nullptr) return null_argument(kName, "ticket");
    return answer_about_stream(ticket->ticket.wait_on(StreamRef(stream)), stream, kName);
  });
}

ferry_status ferry_ticket_destroy(ferry_ticket* ticket) {
  return guarded("ferry_ticket_destroy", [&]() -> ferry_status {
    if (ticket == nullptr) return FERRY_OK;
    ferry_copy_engine& engine = ticket->made_of;
    delete ticket;
    --engine.tickets;
    return FERRY_OK;
  });
}
