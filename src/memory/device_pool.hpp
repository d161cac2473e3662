// SPDX-License-Identifier: Apache-2.0
// The device pool: stream-ordered allocation from chunks of physical memory that are committed on
// demand and moved to where they are needed.
//
// allocate and free follow cudaMallocAsync/cudaFreeAsync: memory freed on a stream may be reused by
// later work of that stream at once, and by other streams only when the work before the free is
// done.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/status.hpp"
#include "driver/device.hpp"
#include "memory/pool_figures.hpp"

namespace ferry {

struct DevicePoolOptions {
  Bytes limit{};  // most physical memory the pool may hold; 0 = what the device gives
};

// Names and meanings as in torch.cuda.memory_stats, in bytes and counts.
struct DevicePoolStats {
  Bytes allocated_bytes;  // live blocks, rounded to what was handed out
  Bytes allocated_bytes_peak;
  Bytes requested_bytes;  // live blocks, as asked for
  Bytes requested_bytes_peak;
  Bytes reserved_bytes;  // physical memory held from the driver ("committed")
  Bytes reserved_bytes_peak;
  Bytes fenced_bytes;             // free, but work before the free is not known to be finished
  Bytes slack_bytes;              // free bytes in chunks that also hold live blocks
  std::uint64_t allocations = 0;  // live blocks
  std::uint64_t allocations_total = 0;  // since creation
  std::uint64_t frees_total = 0;
  std::uint64_t chunks = 0;
  std::uint64_t chunks_moved = 0;       // remapped elsewhere to serve a request
  std::uint64_t num_alloc_retries = 0;  // requests that had to reclaim memory first
  std::uint64_t num_ooms = 0;
  std::uint64_t num_sync_all_streams = 0;  // whole-context synchronisations at the moment of reuse
  std::uint64_t quarantined_blocks = 0;  // since creation: frees whose fence could not be recorded;
                                         // their memory waits for an idle device
  std::uint64_t audits = 0;
};

enum class PoolBlockState : std::uint8_t { live, fenced, idle };

// A piece of a pool's memory, as map_of() lists it.
struct PoolBlock {
  DeviceAddress address;
  Bytes size;
  Bytes requested;  // 0 where it is idle
  PoolBlockState state = PoolBlockState::idle;
  DeviceAddress segment;  // the stretch of memory that it lies in
  Bytes segment_size;
  StreamRef stream;                // of the heap that it belongs to
  bool slabs = false;              // in memory that is cut into small blocks
  std::uint64_t private_pool = 0;  // 0: in none
};

class DevicePool {
 public:
  // Requires: `device` outlives the pool.
  [[nodiscard]] static Result<std::unique_ptr<DevicePool>> create(Device& device,
                                                                  const DevicePoolOptions& options);
  // Waits for the device, then gives everything back; blocks still live become invalid.
  ~DevicePool();
  DevicePool(const DevicePool&) = delete;
  DevicePool& operator=(const DevicePool&) = delete;

  // Memory for `bytes`, aligned to 512 B, usable by work queued on `stream` from now on. Null
  // address for 0 bytes. Blocks the host only when memory is short. Errors: out_of_memory (see
  // out_of_memory_report), invalid_argument (a stream of another context, or no living stream),
  // driver errors.
  [[nodiscard]] Result<DeviceAddress> allocate(Bytes bytes, StreamRef stream);

  // Gives a block back, after the work queued so far on `stream` and on the streams of record_use.
  // The null address is ignored. Never blocks. Where `stream` is gone, the memory waits for an idle
  // device. Errors: not_owned, already_freed, invalid_argument (a stream of another context); the
  // pool is unchanged.
  [[nodiscard]] Status free(DeviceAddress address, StreamRef stream);

  // Work queued so far on `stream` uses the live block: it outlives that work even when freed
  // elsewhere. Errors: not_owned, already_freed, invalid_argument (as allocate), and the driver's
  // where a per-thread stream could not be marked.
  [[nodiscard]] Status record_use(DeviceAddress address, StreamRef stream);

  // Call before a stream is destroyed: its idle memory can then serve others without a device
  // synchronisation.
  void stream_will_end(StreamRef stream);

  // A private pool has memory of its own, for work that may come back to it at any time, as the
  // launches of a captured graph do: what is freed there serves the same stream in the same pool
  // alone. It is in use from its first retain until each has been released; then its idle memory
  // serves all after the work queued up to that moment, and what is still live follows when it is
  // freed. Names are the caller's, not 0. Error of release: invalid_argument (not in use).
  void retain_private(std::uint64_t pool);
  [[nodiscard]] Status release_private(std::uint64_t pool);
  [[nodiscard]] std::uint64_t private_uses(std::uint64_t pool) const;

  // As allocate, from a private pool in use; `stream` may be in a capture, which stays as it is.
  // Nothing waits for the device then. Error, too: invalid_argument (the pool is not in use).
  [[nodiscard]] Result<DeviceAddress> allocate_private(std::uint64_t pool, Bytes bytes,
                                                       StreamRef stream);

  // Returns idle physical memory to the driver until the pool holds at most `keep`; the amount
  // returned. Blocks the host where idle memory still waits for queued work.
  [[nodiscard]] Result<Bytes> trim(Bytes keep);

  // Lets another device use the pool's memory, what it holds now and what is still to come. Errors:
  // invalid_argument (the pool's own device, one that cannot reach it), the driver's.
  [[nodiscard]] Status open_to(DeviceId peer);

  // Changes the limit; memory already held is kept until trimmed. 0 = what the device gives.
  void set_limit(Bytes limit);

  [[nodiscard]] DevicePoolStats stats() const;

  // Running figures, and the setting back of their peaks and totals.
  [[nodiscard]] PoolFigures figures() const;
  void reset_peaks();
  void reset_totals();

  // All memory of the pool by address; see map_of().
  [[nodiscard]] std::vector<PoolBlock> blocks() const;

  // Who holds what, after a failed allocation: for people. Empty when none failed yet.
  [[nodiscard]] std::string out_of_memory_report() const;

  // Recomputes every invariant from scratch; internal with the broken one named in describe().
  // Linear in the number of blocks. Sum rule, in physical bytes: live + fenced + idle == committed.
  [[nodiscard]] Status audit();

 private:
  class Impl;
  explicit DevicePool(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ferry
