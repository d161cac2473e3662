// SPDX-License-Identifier: Apache-2.0
// Builds the history of one device from calls that name addresses, as every trace format does.
// Owned by a reader. It decides what the formats leave open: a free of an address that was never
// allocated in the trace is a block that was live at the start; events that contradict each other
// are mended in the one way that keeps every address live at most once, and counted, so that the
// reader can say so.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "front/traces/trace.hpp"

namespace ferry::replay {

// The largest block, and the most live bytes of one device, that a trace may claim. Far beyond any
// machine, and small enough that sums stay within 64 bits.
inline constexpr Bytes kMaxTraceBlock{std::uint64_t{1} << 60};
inline constexpr Bytes kMaxTraceLive{std::uint64_t{1} << 62};
inline constexpr std::uint64_t kMaxTraceEvents = std::uint64_t{1} << 27;

struct HistoryCall {
  std::uint64_t address = 0;
  Bytes bytes;
  std::uint64_t stream = 0;
  std::int64_t time_us = 0;  // on the file's own clock; 0 where it has none
};

struct HistoryCounts {
  std::uint64_t start_frees = 0;    // blocks known only by their free
  std::uint64_t frees_of_dead = 0;  // frees of an address that was not live; ignored
  std::uint64_t lost_frees = 0;     // an address was allocated again; freed just before
  std::uint64_t contradicted = 0;   // final blocks that the events exclude; left out
};

// Spreads addresses, which are multiples of 512 and more. Salted, so that no file can be made whose
// addresses all fall into one place of the table.
class AddressHash {
 public:
  AddressHash();
  std::size_t operator()(std::uint64_t address) const {
    std::uint64_t mixed = (address ^ salt_) * 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ (mixed >> 32)) * 0xd6e8feb86659fd93U;
    return mixed ^ (mixed >> 32);
  }

 private:
  std::uint64_t salt_;
};

class History {
 public:
  // In the order of the trace. Each block is at most kMaxTraceBlock.
  void allocate(const HistoryCall& call);
  void free(const HistoryCall& call);

  // The allocator has finished a free that may have been asked for earlier, in the trace or before
  // it.
  void complete_free(const HistoryCall& call);

  // A block that was live at the start, freed nowhere. It has no address and comes first.
  void add_resident(Bytes bytes, std::uint64_t stream);

  // After all calls: a block that is live at the end (`pending`: its free was asked for, and is not
  // done). One that no call mentions was live all along.
  void add_final(const HistoryCall& block, bool pending);

  [[nodiscard]] std::uint32_t event_count() const {
    return static_cast<std::uint32_t>(trace_.events.size());
  }
  [[nodiscard]] bool full() const {
    return trace_.events.size() + candidates_.size() >= kMaxTraceEvents;
  }
  [[nodiscard]] bool any_block() const { return !trace_.blocks.empty() || !candidates_.empty(); }
  [[nodiscard]] std::optional<std::int64_t> first_time() const;  // nothing when no call has one

  // Ends the history: times count from `origin`, peak_live is filled in, the reserved figures are
  // the reader's. Fails when the live blocks add up to more than kMaxTraceLive.
  [[nodiscard]] Result<DeviceTrace, TraceError> finish(int device, std::int64_t origin_us);

  // Complete after `finish`.
  [[nodiscard]] const HistoryCounts& counts() const { return counts_; }

 private:
  struct AddressState {
    std::uint32_t block = 0;
    bool live = false;
  };

  std::uint32_t add_block(const HistoryCall& call);
  void add_event(TraceEvent::Kind kind, std::uint32_t block, const HistoryCall& call);
  void free_unknown(const HistoryCall& call);
  void settle_candidates();

  DeviceTrace trace_;
  std::vector<std::uint64_t> block_address_;  // beside trace_.blocks
  tsl::robin_map<std::uint64_t, AddressState, AddressHash> addresses_;
  std::vector<HistoryCall> candidates_;  // final blocks that no call mentions
  HistoryCounts counts_;
};

// Sentences on what had to be assumed or mended; none when all was known and consistent.
[[nodiscard]] std::vector<std::string> describe_mending(const HistoryCounts& counts, int device);

}  // namespace ferry::replay
