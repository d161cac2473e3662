// SPDX-License-Identifier: Apache-2.0
// Two pinned buffers through which pageable memory is copied, so that the host fills or empties one
// while the device works on the other. Belongs to one channel, which owns its order; not thread
// safe.
#pragma once

#include <array>
#include <cstdint>

#include "memory/event_pool.hpp"
#include "memory/pinned_pool.hpp"

namespace ferry {

class StagingRing {
 public:
  static constexpr std::uint64_t kBufferBytes = std::uint64_t{4} << 20;

  // Requires: all three outlive the ring.
  StagingRing(Device& device, PinnedPool& pinned, EventPool& events)
      : device_(device), pinned_(pinned), events_(events) {}
  // Waits for the device's use of the buffers.
  ~StagingRing();
  StagingRing(const StagingRing&) = delete;
  StagingRing& operator=(const StagingRing&) = delete;

  // Copies pageable host memory to the device by work on `stream`. Blocks the host until the source
  // has been read; the last pieces may still be on their way to the device then.
  [[nodiscard]] Status upload(std::uint64_t destination, std::uint64_t source, Bytes bytes,
                              StreamRef stream);

  // Copies device memory to pageable host memory by work on `stream`. Blocks the host until the
  // destination holds it all.
  [[nodiscard]] Status download(std::uint64_t destination, std::uint64_t source, Bytes bytes,
                                StreamRef stream);

 private:
  struct Buffer {
    void* memory = nullptr;
    EventHandle event;          // of the device's last use
    bool in_use = false;        // the event was recorded and has not been waited for
    std::uint64_t owed_to = 0;  // download: where its bytes are to go
    std::uint64_t owed = 0;
  };

  [[nodiscard]] Status prepare(Buffer& buffer);
  [[nodiscard]] Status wait_for(Buffer& buffer);
  [[nodiscard]] Status mark(Buffer& buffer, StreamRef stream);
  [[nodiscard]] Status deliver(Buffer& buffer);

  Device& device_;
  PinnedPool& pinned_;
  EventPool& events_;
  std::array<Buffer, 2> buffers_;
};

}  // namespace ferry
