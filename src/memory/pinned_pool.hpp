// SPDX-License-Identifier: Apache-2.0
// Page-locked host memory for copies. Pinning is slow and stalls other users of the driver, so
// blocks are kept when they are freed and serve later requests of about the same size; a request
// never gets more than a page and a thirty-second part above what it asked for.
//
// The host may touch a block as soon as it has it. A freed block is therefore given out again only
// when all work that was said to use it has finished, whichever stream the next user means.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "driver/device.hpp"
#include "driver/mutex.hpp"
#include "memory/event_pool.hpp"

namespace ferry {

struct PinnedPoolStats {
  Bytes allocated_bytes;  // live blocks, rounded to what was handed out
  Bytes requested_bytes;  // live blocks, as asked for
  Bytes reserved_bytes;   // pinned memory held, live or not
  Bytes reserved_bytes_peak;
  Bytes fenced_bytes;             // free, but queued work may still use it
  std::uint64_t allocations = 0;  // live blocks
  std::uint64_t blocks_made = 0;  // calls of cuMemHostAlloc that succeeded
  std::uint64_t blocks_reused = 0;
};

class PinnedPool {
 public:
  // Requires: `device` outlives the pool.
  explicit PinnedPool(Device& device) : device_(device), events_(device) {}
  // Waits for the device, then gives everything back; blocks still live become invalid. Requires:
  // no stream of the device's primary context captures.
  ~PinnedPool();
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;

  // Memory for `bytes`, aligned to 4 KiB, that any device may copy from and to. Null for 0 bytes.
  // Blocks the host when memory must be pinned. Errors: out_of_memory.
  [[nodiscard]] Result<void*> allocate(Bytes bytes);

  // Gives a block back. Null is ignored. Never blocks. Errors: not_owned, already_freed.
  [[nodiscard]] Status free(void* pointer);

  // Work queued so far on `stream` uses the live block that contains `pointer`. Errors: not_owned,
  // and the driver's where the use could not be marked: the caller must wait for the work itself.
  [[nodiscard]] Status record_use(const void* pointer, StreamRef stream);

  // Whether a live block contains the address.
  [[nodiscard]] bool owns(const void* pointer) const;

  // Unpins free blocks that no queued work uses, the largest first, until at most `keep` bytes are
  // held; the amount given back. Blocks the host while memory is unpinned.
  [[nodiscard]] Result<Bytes> trim(Bytes keep);

  [[nodiscard]] PinnedPoolStats stats() const;

  // In a sentence, for a person: what was asked for, who holds what, and what may help.
  [[nodiscard]] std::string out_of_memory_report(Bytes asked) const;
  // In a sentence: where the pointer lies among the blocks, for one that a call has refused.
  [[nodiscard]] std::string place_of(const void* pointer) const;

 private:
  struct Live {
    std::uint64_t size = 0;
    std::uint64_t requested = 0;
  };
  struct Fenced {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::vector<EventHandle> events;  // all must be reached
  };
  using LiveBlocks = std::map<std::uint64_t, Live>;  // by address

  [[nodiscard]] LiveBlocks::const_iterator containing(std::uint64_t address) const
      FERRY_REQUIRES(mutex_);
  void poll_fences() FERRY_REQUIRES(mutex_);
  [[nodiscard]] std::uint64_t take_free(std::uint64_t size) FERRY_REQUIRES(mutex_);
  [[nodiscard]] Result<std::uint64_t> pin(std::uint64_t size) FERRY_REQUIRES(mutex_);

  Device& device_;
  mutable Mutex mutex_{LockRank::memory};
  EventPool events_ FERRY_GUARDED_BY(mutex_);
  LiveBlocks live_ FERRY_GUARDED_BY(mutex_);
  std::multimap<std::uint64_t, std::uint64_t> free_ FERRY_GUARDED_BY(mutex_);  // size -> address
  std::unordered_map<std::uint64_t, std::uint64_t> freed_
      FERRY_GUARDED_BY(mutex_);  // address -> size, of free and fenced blocks
  std::vector<Fenced> fenced_ FERRY_GUARDED_BY(mutex_);
  std::unordered_map<std::uint64_t, std::vector<EventHandle>> uses_
      FERRY_GUARDED_BY(mutex_);  // by address of a live block
  PinnedPoolStats stats_ FERRY_GUARDED_BY(mutex_);
};

}  // namespace ferry
