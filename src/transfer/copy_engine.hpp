// SPDX-License-Identifier: Apache-2.0
// Copies for one device: one channel per direction, each a stream of its own, so that the
// directions overlap and the caller's streams do not wait for copies they do not need.
//
// Host memory from the engine's pinned pool is kept from reuse until the copies that use it have
// run. All other memory must stay valid until the ticket is complete, pageable sources only until
// submit returns.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "driver/mutex.hpp"
#include "memory/event_pool.hpp"
#include "memory/pinned_pool.hpp"
#include "transfer/copy_plan.hpp"
#include "transfer/staging_ring.hpp"
#include "transfer/ticket.hpp"

namespace ferry {

struct CopyEngineStats {
  std::uint64_t requests = 0;
  Bytes requested_bytes;
  std::uint64_t copies = 0;  // copies that were queued
  Bytes copied_bytes;
  std::uint64_t merged = 0;   // requests that became part of another's copy
  std::uint64_t dropped = 0;  // requests of 0 bytes, and those made twice in a batch
  Bytes staged_bytes;         // through the staging buffers
};

// What copies come after.
struct CopyOrder {
  std::span<const StreamRef> streams;  // the work queued on them so far
  std::span<const Ticket* const> tickets;
};

class CopyEngine {
 public:
  // Requires: `device` and `pinned` outlive the engine.
  [[nodiscard]] static Result<std::unique_ptr<CopyEngine>> create(Device& device,
                                                                  PinnedPool& pinned);
  // Waits for all copies.
  ~CopyEngine();
  CopyEngine(const CopyEngine&) = delete;
  CopyEngine& operator=(const CopyEngine&) = delete;

  // Queues the copies of a batch, which are unordered among themselves. Blocks the host while
  // pageable memory is staged: until sources are read, and until destinations are written; then it
  // also waits for what they come after. Errors: those of plan_copies, out_of_memory (staging
  // buffers), the driver's. After an error some of the copies may have been made; none is still
  // running.
  [[nodiscard]] Result<Ticket, Failure> submit(std::span<const CopyRequest> requests,
                                               const CopyOrder& after);

  [[nodiscard]] CopyEngineStats stats() const;

 private:
  friend class Ticket;
  struct Channel {
    StreamRef stream;
    std::unique_ptr<StagingRing> staging;
  };

  CopyEngine(Device& device, PinnedPool& pinned)
      : device_(device), pinned_(pinned), events_(device) {}

  [[nodiscard]] Status open_channels() FERRY_REQUIRES(mutex_);
  [[nodiscard]] Result<std::vector<EventHandle>, Failure> record_on(
      std::span<const StreamRef> streams) FERRY_REQUIRES(mutex_);
  [[nodiscard]] Status order_after(const std::array<bool, kDirections>& used,
                                   const std::vector<EventHandle>& recorded,
                                   std::span<const Ticket* const> tickets) FERRY_REQUIRES(mutex_);
  [[nodiscard]] Status run(const Fragment& fragment) FERRY_REQUIRES(mutex_);
  [[nodiscard]] Status protect(const Fragment& fragment, StreamRef stream) FERRY_REQUIRES(mutex_);
  [[nodiscard]] Result<std::vector<EventHandle>> mark(const std::array<bool, kDirections>& used)
      FERRY_REQUIRES(mutex_);
  void give_back(const std::vector<EventHandle>& events);

  Device& device_;
  PinnedPool& pinned_;
  mutable Mutex mutex_{LockRank::transfer};
  EventPool events_ FERRY_GUARDED_BY(mutex_);
  std::array<Channel, kDirections> channels_ FERRY_GUARDED_BY(mutex_);
  CopyEngineStats stats_ FERRY_GUARDED_BY(mutex_);
};

}  // namespace ferry
