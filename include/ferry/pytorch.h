/* SPDX-License-Identifier: Apache-2.0 */
/* What Ferry's door for PyTorch needs beside ferry.h: figures and a map of a device pool under the
 * meanings of torch.cuda.memory, and the functions that torch's pluggable allocator calls.
 * Part of libferry.so; the conventions are those of ferry.h. */
#ifndef FERRY_PYTORCH_H
#define FERRY_PYTORCH_H

#include "ferry/ferry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A figure that goes up and down. */
typedef struct ferry_figure {
  uint64_t now;
  uint64_t peak;    /* since the pool was made, or since ferry_device_pool_reset_peaks */
  uint64_t added;   /* the sum of all ups, since then or since ferry_device_pool_reset_totals */
  uint64_t removed; /* the sum of all downs */
} ferry_figure;

/* [0]: all requests; [1]: those of at most 1 MiB; [2]: larger ones. */
typedef struct ferry_device_pool_figures_t {
  size_t struct_size;              /* to be set before the call; only that many bytes are written */
  ferry_figure allocations[3];     /* live blocks */
  ferry_figure allocated_bytes[3]; /* of them, each rounded up to what it really takes */
  ferry_figure requested_bytes[3]; /* of them, as they were asked for */
  ferry_figure active[3];          /* live blocks and freed ones that work may still use */
  ferry_figure active_bytes[3];    /* of them */
  ferry_figure chunks;             /* pieces of physical memory held from the driver */
  ferry_figure reserved_bytes;     /* of them */
} ferry_device_pool_figures_t;

typedef enum ferry_block_state {
  FERRY_BLOCK_LIVE = 0,
  FERRY_BLOCK_FENCED = 1, /* freed, but queued work may still use it */
  FERRY_BLOCK_IDLE = 2
} ferry_block_state;

/* A piece of a pool's memory. */
typedef struct ferry_device_block {
  void* address;
  uint64_t bytes;
  uint64_t requested; /* as it was asked for; 0 where it is idle */
  void* segment;      /* the stretch of memory without missing addresses that it lies in */
  uint64_t segment_bytes;
  void* stream;          /* whose memory it is */
  int32_t state;         /* a ferry_block_state */
  int32_t small;         /* 1: in memory that is cut into blocks of up to 32 KiB */
  uint64_t private_pool; /* see ferry_private_pool_retain; 0: in none */
} ferry_device_block;

/* Figures of a pool of pinned memory. */
typedef struct ferry_pinned_pool_stats_t {
  size_t struct_size;           /* to be set before the call; only that many bytes are written */
  uint64_t allocated_bytes;     /* live blocks now, each rounded up to what it really takes */
  uint64_t requested_bytes;     /* live blocks now, as they were asked for */
  uint64_t reserved_bytes;      /* pinned memory now held */
  uint64_t reserved_bytes_peak; /* the most that ever was */
  uint64_t fenced_bytes;        /* freed, but queued work may still use it */
  uint64_t allocations;         /* live blocks now */
  uint64_t blocks_made;         /* pieces of memory pinned so far */
  uint64_t blocks_reused;       /* requests served without pinning */
} ferry_pinned_pool_stats_t;

/* Reads the running figures of a pool.
 *   - requires: figures->struct_size set
 *   - stream order: none
 *   - blocks host: never
 *   - errors: INVALID_ARGUMENT (struct_size is not set) */
FERRY_API ferry_status ferry_device_pool_figures(ferry_device_pool* pool,
                                                 ferry_device_pool_figures_t* figures);

/* Sets the peaks of ferry_device_pool_figures to what is now.
 *   - requires: a live pool
 *   - stream order: none
 *   - blocks host: never
 *   - errors: none */
FERRY_API ferry_status ferry_device_pool_reset_peaks(ferry_device_pool* pool);

/* Sets what was added and removed in ferry_device_pool_figures to 0.
 *   - requires: a live pool
 *   - stream order: none
 *   - blocks host: never
 *   - errors: none */
FERRY_API ferry_status ferry_device_pool_reset_totals(ferry_device_pool* pool);

/* Lists all memory of a pool by address, without gaps inside a segment. *count is the room in
 * `blocks` before the call, and how many blocks there are after it; the list is cut where the room
 * is too small.
 *   - requires: `blocks` may be NULL where *count is 0
 *   - stream order: none
 *   - blocks host: never waits for the device
 *   - errors: none */
FERRY_API ferry_status ferry_device_pool_blocks(ferry_device_pool* pool, ferry_device_block* blocks,
                                                size_t* count);

/* Reads the figures of a pool of pinned memory.
 *   - requires: stats->struct_size set
 *   - stream order: none
 *   - blocks host: never
 *   - errors: INVALID_ARGUMENT (struct_size is not set) */
FERRY_API ferry_status ferry_pinned_pool_stats(ferry_pinned_pool* pool,
                                               ferry_pinned_pool_stats_t* stats);

/* The one pool of a device that belongs to the process, made on first sight with the limit of
 * ferry_process_pool_limit. It is never destroyed.
 *   - requires: ferry_init
 *   - stream order: none
 *   - blocks host: while the device's primary context is made
 *   - errors: as ferry_device_pool_create */
FERRY_API ferry_status ferry_process_pool(int device, ferry_device_pool** pool);

/* The limit of process pools, of those that exist too (0: what the device gives).
 *   - requires: nothing
 *   - stream order: none
 *   - blocks host: never
 *   - errors: none */
FERRY_API ferry_status ferry_process_pool_limit(uint64_t limit_bytes);

/* The functions of torch.cuda.memory.CUDAPluggableAllocator, over the process pools. As torch asks
 * for no status, what goes wrong is thrown as a C++ exception (std::runtime_error), which torch
 * turns into Python's RuntimeError; the text of an exhausted memory begins "CUDA out of memory". */
FERRY_API void* ferry_plug_allocate(size_t bytes, int device, void* stream);
FERRY_API void ferry_plug_free(void* pointer, size_t bytes, int device, void* stream);
FERRY_API void ferry_plug_record_stream(void* pointer, void* stream);
FERRY_API void ferry_plug_set_memory_fraction(double fraction, int device);
FERRY_API void ferry_plug_empty_cache(void);
FERRY_API void* ferry_plug_base_allocation(void* pointer, size_t* bytes);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_PYTORCH_H */
