// SPDX-License-Identifier: Apache-2.0
// Uses of live blocks on streams other than the one they are freed on: what a free has to wait for.
// Part of a pool's state, guarded by its mutex.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <vector>

#include "memory/address_hash.hpp"
#include "memory/event_pool.hpp"

namespace ferry {

// An event where the stream may not be asked any more, else the stream itself.
struct ForeignUse {
  std::uint64_t key = 0;  // of the stream
  StreamRef stream;
  EventHandle event;
  [[nodiscard]] bool has_event() const { return event.value != nullptr; }
};

class ForeignUses {
 public:
  // Work queued so far on `stream` uses the block. A per-thread stream is marked with an event at
  // once: only its own thread can name it. Error: that event could not be recorded; the use is not
  // remembered then.
  [[nodiscard]] Status add(DeviceAddress address, StreamRef stream, EventPool& events);

  // Puts events in the place of a stream that is about to go. Where one cannot be recorded the
  // stream stays named.
  void stream_will_end(StreamRef stream, EventPool& events);

  // The uses of a block, which is forgotten.
  [[nodiscard]] std::vector<ForeignUse> take(DeviceAddress address);
  void give_back_all(EventPool& events);

 private:
  tsl::robin_map<std::uint64_t, std::vector<ForeignUse>, AddressHash> uses_;  // by address
};

}  // namespace ferry
