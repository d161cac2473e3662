/* SPDX-License-Identifier: Apache-2.0 */
/* Ferry's C API: the only stable ABI of libferry.so.
 *
 * Conventions, for every function:
 *   1. Returns a ferry_status; FERRY_OK is 0. Outputs are written only on success.
 *   2. After a failure, ferry_last_error() tells this thread what happened, in a sentence.
 *   3. Handles are opaque. A NULL handle or output is FERRY_ERROR_INVALID_ARGUMENT, never a crash.
 *   4. Any thread may call; a handle must not be destroyed while another thread uses it.
 *   5. `stream` is a CUstream / cudaStream_t; NULL is the legacy default stream.
 *   6. In a child of fork() whose parent had called ferry_init, every function answers
 *      FERRY_ERROR_NOT_INITIALIZED: CUDA does not work there. A program started by exec is free.
 * Sizes are in bytes. Device pointers are never read or written by the host.
 *
 * What is said of each function:
 *   - requires: what the caller answers for
 *   - stream order: where the call stands among the work queued on streams
 *   - blocks host: whether the calling thread may have to wait
 *   - errors: what it may answer besides FERRY_ERROR_INVALID_ARGUMENT for a NULL that must not be
 */
#ifndef FERRY_FERRY_H
#define FERRY_FERRY_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#error "Ferry supports Linux"
#endif
#define FERRY_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

#define FERRY_VERSION_MAJOR 0
#define FERRY_VERSION_MINOR 1
#define FERRY_VERSION_PATCH 0

typedef enum ferry_status {
  FERRY_OK = 0,
  FERRY_ERROR_INVALID_ARGUMENT = 1,
  FERRY_ERROR_OUT_OF_MEMORY = 2,
  FERRY_ERROR_NOT_INITIALIZED = 3,
  FERRY_ERROR_NO_DEVICE = 4,
  FERRY_ERROR_NOT_SUPPORTED = 5,
  FERRY_ERROR_NOT_READY = 6,
  FERRY_ERROR_NOT_OWNED = 7,
  FERRY_ERROR_ALREADY_FREED = 8,
  FERRY_ERROR_CAPTURE_ACTIVE = 9,
  FERRY_ERROR_DEVICE_LOST = 10,
  FERRY_ERROR_IO = 11,
  FERRY_ERROR_MALFORMED_INPUT = 12,
  FERRY_ERROR_INTERNAL = 13
} ferry_status;

typedef struct ferry_device_pool ferry_device_pool;

/* Options of ferry_init. Set struct_size to sizeof(ferry_options); zero fields mean the default. */
typedef struct ferry_options {
  size_t struct_size;
  const char* driver; /* auto | cuda | sim | /path/to/libcuda.so.1; NULL: FERRY_DRIVER, else auto */
} ferry_options;

/* Options of a device pool. Set struct_size to sizeof(ferry_device_pool_options). */
typedef struct ferry_device_pool_options {
  size_t struct_size;
  uint64_t limit_bytes; /* most physical memory the pool may hold; 0: what the device gives */
} ferry_device_pool_options;

/* Figures of a device pool; set struct_size to sizeof(ferry_device_pool_stats_t) before the call.
 * Names and meanings follow torch.cuda.memory_stats. "Now" is the moment of the call; totals and
 * peaks count from the making of the pool. */
typedef struct ferry_device_pool_stats_t {
  size_t struct_size;
  uint64_t allocated_bytes;      /* live blocks now, each rounded up to what it really takes */
  uint64_t allocated_bytes_peak; /* the most that ever were */
  uint64_t requested_bytes;      /* live blocks now, as they were asked for */
  uint64_t requested_bytes_peak; /* the most that ever were */
  uint64_t reserved_bytes;       /* physical memory now held from the driver */
  uint64_t reserved_bytes_peak;  /* the most that ever was, within a call too */
  uint64_t fenced_bytes;         /* freed, but work before the free is not known to be done */
  uint64_t slack_bytes;          /* free bytes in chunks that also hold live blocks */
  uint64_t allocations;          /* live blocks now */
  uint64_t allocations_total;    /* allocations that succeeded */
  uint64_t frees_total;          /* frees that succeeded */
  uint64_t chunks;               /* pieces of physical memory now held */
  uint64_t chunks_moved;         /* chunks mapped elsewhere to serve a request */
  uint64_t num_alloc_retries;    /* requests for which memory had to be reclaimed first */
  uint64_t num_ooms;             /* requests answered with FERRY_ERROR_OUT_OF_MEMORY */
  uint64_t num_sync_all_streams; /* times the pool waited for the whole device */
  uint64_t quarantined_blocks;   /* freed blocks kept aside, as no event could be recorded; total */
} ferry_device_pool_stats_t;

/* Loads the CUDA driver. Every other function but the informational ones needs it.
 *   - requires: options NULL or filled in; a second call must ask for the same driver
 *   - stream order: none
 *   - blocks host: while the driver starts
 *   - errors: NOT_INITIALIZED (no driver could be loaded), INVALID_ARGUMENT (another is in use) */
FERRY_API ferry_status ferry_init(const ferry_options* options);

/* Makes a pool of memory on device `device` (an ordinal, as in cuDeviceGet).
 *   - requires: ferry_init; options NULL or filled in
 *   - stream order: none
 *   - blocks host: while the device's primary context is made
 *   - errors: NO_DEVICE, NOT_SUPPORTED (no virtual memory management), OUT_OF_MEMORY */
FERRY_API ferry_status ferry_device_pool_create(int device,
                                                const ferry_device_pool_options* options,
                                                ferry_device_pool** pool);

/* Destroys a pool and gives all of its memory back; blocks still live become invalid.
 *   - requires: no other thread uses the pool
 *   - stream order: after all work of the device
 *   - blocks host: until the device is idle
 *   - errors: none */
FERRY_API ferry_status ferry_device_pool_destroy(ferry_device_pool* pool);

/* Allocates `bytes`, aligned to 512 B. 0 bytes give a NULL pointer, as cudaMalloc does.
 *   - requires: a live pool; a living stream of the device's primary context
 *   - stream order: usable by work queued on `stream` after the call
 *   - blocks host: only when memory is short and must be reclaimed
 *   - errors: OUT_OF_MEMORY (ferry_last_error() holds the report: who holds what),
 *             INVALID_ARGUMENT (a stream of another context, or no living stream) */
FERRY_API ferry_status ferry_device_allocate(ferry_device_pool* pool, size_t bytes, void* stream,
                                             void** pointer);

/* Frees a block. NULL is ignored.
 *   - requires: a pointer from ferry_device_allocate on this pool; a living stream
 *   - stream order: after the work queued so far on `stream` and on the streams of
 *                   ferry_device_record_use
 *   - blocks host: never
 *   - errors: NOT_OWNED (foreign or interior pointer), ALREADY_FREED, INVALID_ARGUMENT (a stream of
 *             another context); the pool is unchanged */
FERRY_API ferry_status ferry_device_free(ferry_device_pool* pool, void* pointer, void* stream);

/* Tells the pool that work queued so far on `stream` uses the block, which was allocated on another
 * stream.
 *   - requires: a live block; `stream` exists until the block is freed, unless its end is announced
 *               by ferry_device_stream_will_end
 *   - stream order: the block is not reused before that work has finished
 *   - blocks host: never
 *   - errors: NOT_OWNED, ALREADY_FREED, INVALID_ARGUMENT (a stream of another context, or no living
 *             stream) */
FERRY_API ferry_status ferry_device_record_use(ferry_device_pool* pool, void* pointer,
                                               void* stream);

/* Tells the pool that `stream` is about to be destroyed. A stream that the pool has been used with
 * must be announced so, or synchronised, before it is destroyed: the driver may give its handle to
 * another stream, which the pool could not tell from it.
 *   - requires: the stream still exists
 *   - stream order: none
 *   - blocks host: never
 *   - errors: none */
FERRY_API ferry_status ferry_device_stream_will_end(ferry_device_pool* pool, void* stream);

/* Takes a private pool of a pool into use once more; the first time makes it. It has memory of its
 * own, for work that may come back to it at any time, as the launches of a captured graph do: what
 * is freed there serves the same stream in the same private pool alone.
 *   - requires: a live pool; `name` is the caller's choice, not 0
 *   - stream order: none
 *   - blocks host: never
 *   - errors: INVALID_ARGUMENT (the name is 0) */
FERRY_API ferry_status ferry_private_pool_retain(ferry_device_pool* pool, uint64_t name);

/* Takes back one ferry_private_pool_retain. After the last the name is forgotten: idle memory of
 * the private pool serves the whole pool again, and live blocks follow when they are freed.
 *   - requires: the graphs that use the private pool's memory are not launched again after the last
 *   - stream order: the memory is reused after all work of the device that is queued by then
 *   - blocks host: never
 *   - errors: INVALID_ARGUMENT (the private pool is not in use) */
FERRY_API ferry_status ferry_private_pool_release(ferry_device_pool* pool, uint64_t name);

/* How often a private pool is retained; 0 where it is not in use.
 *   - requires: a live pool
 *   - stream order: none
 *   - blocks host: never
 *   - errors: none */
FERRY_API ferry_status ferry_private_pool_use_count(ferry_device_pool* pool, uint64_t name,
                                                    uint64_t* count);

/* As ferry_device_allocate, from a private pool; freed by ferry_device_free.
 *   - requires: a private pool in use; a living stream of the device's primary context, which may
 * be in a capture
 *   - stream order: usable by work queued on `stream` after the call, and by each launch of a graph
 *                   that was captured so, until the private pool is released
 *   - blocks host: only when memory is short and no capture goes on
 *   - errors: as ferry_device_allocate; INVALID_ARGUMENT (the private pool is not in use) */
FERRY_API ferry_status ferry_private_pool_allocate(ferry_device_pool* pool, uint64_t name,
                                                   size_t bytes, void* stream, void** pointer);

/* Returns idle memory to the driver until the pool holds at most `keep_bytes`. Private pools in use
 * keep theirs.
 *   - requires: a live pool; `returned_bytes` may be NULL
 *   - stream order: none
 *   - blocks host: where idle memory still waits for queued work
 *   - errors: those of the driver */
FERRY_API ferry_status ferry_device_pool_trim(ferry_device_pool* pool, uint64_t keep_bytes,
                                              uint64_t* returned_bytes);

/* Changes the limit of a pool (0: what the device gives). Memory already held is kept until
 * trimmed.
 *   - requires: a live pool
 *   - stream order: none
 *   - blocks host: never
 *   - errors: none */
FERRY_API ferry_status ferry_device_pool_set_limit(ferry_device_pool* pool, uint64_t limit_bytes);

/* Lets device `peer` read and write the pool's memory, what it holds now and what is still to come.
 * A second time for the same device does nothing.
 *   - requires: a live pool; a device that can reach the pool's (cuDeviceCanAccessPeer)
 *   - stream order: none
 *   - blocks host: never waits for the device
 *   - errors: INVALID_ARGUMENT (the pool's own device, or one that cannot reach it); those of the
 *     driver */
FERRY_API ferry_status ferry_device_pool_open_to(ferry_device_pool* pool, int peer);

/* Reads the figures of a pool.
 *   - requires: stats->struct_size set; only that many bytes are written
 *   - stream order: none
 *   - blocks host: never
 *   - errors: INVALID_ARGUMENT (struct_size is not set) */
FERRY_API ferry_status ferry_device_pool_stats(ferry_device_pool* pool,
                                               ferry_device_pool_stats_t* stats);

/* Recomputes every invariant of a pool (slow; for tests and bug reports).
 *   - requires: a live pool
 *   - stream order: none
 *   - blocks host: never waits for the device
 *   - errors: INTERNAL, with the broken invariant in ferry_last_error() */
FERRY_API ferry_status ferry_device_pool_audit(ferry_device_pool* pool);

/* --- Copies --------------------------------------------------------------------------------------
 */

typedef struct ferry_pinned_pool ferry_pinned_pool; /* page-locked host memory, kept for reuse */
typedef struct ferry_copy_engine ferry_copy_engine; /* the copies of one device */
typedef struct ferry_ticket ferry_ticket;           /* copies that were submitted together */

/* One copy between device memory and host memory, or within device memory. */
typedef struct ferry_copy_request {
  void* destination;
  const void* source;
  size_t bytes;
} ferry_copy_request;

/* Makes a pool of page-locked host memory, pinned by way of device `device`.
 *   - requires: ferry_init
 *   - stream order: none
 *   - blocks host: while the device's primary context is made
 *   - errors: NO_DEVICE, NOT_SUPPORTED, OUT_OF_MEMORY */
FERRY_API ferry_status ferry_pinned_pool_create(int device, ferry_pinned_pool** pool);

/* Destroys a pool and unpins all of its memory; blocks still live become invalid.
 *   - requires: no other thread uses the pool; no stream of the device captures
 *   - stream order: after all work of the device
 *   - blocks host: until the device is idle
 *   - errors: INVALID_ARGUMENT (copy engines of the pool are not destroyed yet; nothing is done) */
FERRY_API ferry_status ferry_pinned_pool_destroy(ferry_pinned_pool* pool);

/* Allocates `bytes` of pinned memory, aligned to 4 KiB. 0 bytes give a NULL pointer. Freed blocks
 * serve again once all work that uses them has finished, so the host may write at once.
 *   - requires: a live pool
 *   - stream order: none: usable by the host and by every stream
 *   - blocks host: when memory must be pinned
 *   - errors: OUT_OF_MEMORY */
FERRY_API ferry_status ferry_pinned_allocate(ferry_pinned_pool* pool, size_t bytes, void** pointer);

/* Frees a block. NULL is ignored. Copies of ferry_copy_batch need not be waited for first; other
 * work must be named by ferry_pinned_record_use.
 *   - requires: a pointer from ferry_pinned_allocate on this pool
 *   - stream order: after the work that is known to use the block
 *   - blocks host: never
 *   - errors: NOT_OWNED, ALREADY_FREED */
FERRY_API ferry_status ferry_pinned_free(ferry_pinned_pool* pool, void* pointer);

/* Tells the pool that work queued so far on `stream` uses the block that contains `pointer`.
 *   - requires: a live block; a living stream of the device's primary context
 *   - stream order: the block is not given out again before that work has finished
 *   - blocks host: never
 *   - errors: NOT_OWNED, CAPTURE_ACTIVE; those of the driver: the use is not known to the pool then
 */
FERRY_API ferry_status ferry_pinned_record_use(ferry_pinned_pool* pool, const void* pointer,
                                               void* stream);

/* Unpins free blocks until at most `keep_bytes` are held; not those that queued work still uses.
 *   - requires: a live pool; `returned_bytes` may be NULL
 *   - stream order: none
 *   - blocks host: while memory is unpinned
 *   - errors: those of the driver */
FERRY_API ferry_status ferry_pinned_pool_trim(ferry_pinned_pool* pool, uint64_t keep_bytes,
                                              uint64_t* returned_bytes);

/* Makes an engine for copies of the pool's device.
 *   - requires: a live pool, which is not destroyed before the engine
 *   - stream order: none
 *   - blocks host: never waits for the device
 *   - errors: OUT_OF_MEMORY, those of the driver */
FERRY_API ferry_status ferry_copy_engine_create(ferry_pinned_pool* pool,
                                                ferry_copy_engine** engine);

/* Destroys an engine.
 *   - requires: no other thread uses it
 *   - stream order: after all of its copies
 *   - blocks host: until they have run
 *   - errors: INVALID_ARGUMENT (tickets of the engine are not destroyed yet; nothing is done) */
FERRY_API ferry_status ferry_copy_engine_destroy(ferry_copy_engine* engine);

/* Submits `count` copies, which are unordered among themselves: neighbours become one copy, and
 * none crosses the border of a host registration or goes from one device allocation into the next.
 * Pageable memory goes through pinned buffers; a request that begins in it counts as pageable to
 * its end.
 *   - requires: streams of the device's primary context; pageable sources hold their bytes
 *             already; all memory stays valid until the ticket is complete, pageable sources only
 *             until the call returns. Checked by address before anything is copied: no request
 *             writes what another of the batch writes (the same request made twice is one) or
 *             reads, nor what it reads itself; every side of a device has memory to its end.
 *             Not checked: one memory mapped at several addresses, and host memory, as which an
 *             address counts that the driver does not know
 *   - stream order: after the work queued so far on `streams` and after the copies of `tickets`
 *   - blocks host: where a side is pageable: until such sources are read and such destinations
 *                  written
 *   - errors: INVALID_ARGUMENT (an address is NULL, neither side is memory of a device, or what is
 *             checked does not hold: nothing is copied, and ferry_last_error() names the request; a
 *             stream that is none), CAPTURE_ACTIVE (one of `streams` captures; the capture goes
 *             on), OUT_OF_MEMORY, those of the driver; some copies may have been made then, none is
 *             still running */
FERRY_API ferry_status ferry_copy_batch(ferry_copy_engine* engine,
                                        const ferry_copy_request* requests, size_t count,
                                        void* const* streams, size_t stream_count,
                                        const ferry_ticket* const* tickets, size_t ticket_count,
                                        ferry_ticket** ticket);

/* Whether all copies of a ticket have run: *complete is 0 or 1.
 *   - requires: a live ticket
 *   - stream order: none
 *   - blocks host: never
 *   - errors: those of the driver */
FERRY_API ferry_status ferry_ticket_is_complete(const ferry_ticket* ticket, int* complete);

/* Waits for all copies of a ticket.
 *   - requires: a live ticket
 *   - stream order: none
 *   - blocks host: until they have run
 *   - errors: those of the driver */
FERRY_API ferry_status ferry_ticket_wait(const ferry_ticket* ticket);

/* Lets work queued on `stream` from now on come after the copies of a ticket.
 *   - requires: a live ticket; a living stream
 *   - stream order: later work of `stream` waits
 *   - blocks host: never
 *   - errors: CAPTURE_ACTIVE, those of the driver */
FERRY_API ferry_status ferry_ticket_wait_on(const ferry_ticket* ticket, void* stream);

/* Forgets a ticket; its copies go on. NULL is ignored.
 *   - requires: no other thread uses the ticket
 *   - stream order: none
 *   - blocks host: never
 *   - errors: none */
FERRY_API ferry_status ferry_ticket_destroy(ferry_ticket* ticket);

/* What went wrong last on this thread; "" when nothing did. Valid until this thread's next call. */
FERRY_API const char* ferry_last_error(void);

/* "out of memory" and so on; never NULL. */
FERRY_API const char* ferry_status_string(ferry_status status);

/* "0.1.0 (commit abcdef012345, Release, GNU 12.2.0)"; never NULL. */
FERRY_API const char* ferry_version(void);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_FERRY_H */
