// SPDX-License-Identifier: Apache-2.0
// One device of a loaded driver, through its primary context. The only way that higher floors reach
// CUDA: opaque handles in, Status out, every call counted.
//
// Common to all calls: may come from any thread; the primary context is made current for the call
// and the caller's context is restored; none blocks the host unless it says so. Sizes and addresses
// of virtual memory calls are multiples of granularity().
#pragma once

#include <memory>
#include <vector>

#include "base/ids.hpp"
#include "base/status.hpp"
#include "driver/call_counters.hpp"
#include "driver/driver.hpp"

namespace ferry {

struct PhysicalHandle {  // memory from cuMemCreate
  std::uint64_t value = 0;
};
struct EventHandle {  // an event without timing
  void* value = nullptr;
};

struct MemoryInfo {
  Bytes free;
  Bytes total;
};

// What the driver knows of an address.
enum class MemoryKind : std::uint8_t {
  device,    // device memory, of whatever device
  reserved,  // a device address that no memory is mapped to
  pinned,    // host memory that the driver has allocated or registered
  pageable,  // host memory that it does not know
};
struct MemoryRange {
  MemoryKind kind = MemoryKind::pageable;
  std::uint64_t end = 0;  // of the allocation, reservation or registration; of pageable memory
                          // nothing is known
  std::uint64_t memory_end = 0;  // device: of the memory mapped here, which is less than `end`
                                 // where only a part of a reservation has memory
};

class Device {
 public:
  // Retains the primary context. Requires: `driver` outlives the device.
  // Errors: no_device, out_of_memory, not_supported (no virtual memory management).
  [[nodiscard]] static Result<std::unique_ptr<Device>> open(const Driver& driver, DeviceId id);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] DeviceId id() const { return id_; }
  [[nodiscard]] const Driver& driver() const { return driver_; }
  // Of physical memory; 2 MiB on all known GPUs.
  [[nodiscard]] Bytes granularity() const { return granularity_; }
  [[nodiscard]] CallTallies tallies() const { return counters_.read(); }
  [[nodiscard]] Result<MemoryInfo> memory_info();

  // --- Virtual memory ---
  [[nodiscard]] Result<DeviceAddress> reserve(Bytes size);
  [[nodiscard]] Status free_reservation(DeviceAddress address, Bytes size);
  [[nodiscard]] Result<PhysicalHandle> create(Bytes size);
  [[nodiscard]] Status release(PhysicalHandle handle, Bytes size);
  [[nodiscard]] Status map(DeviceAddress address, Bytes size, PhysicalHandle handle);
  // Whether work of `peer` may use memory of this device. False for a device that is not there.
  [[nodiscard]] bool can_be_reached_by(DeviceId peer);

  // Opens [address, +size) for reading and writing by this device, and by `peers` beside it;
  // `mappings` lie in the range.
  [[nodiscard]] Status set_access(DeviceAddress address, Bytes size, std::uint64_t mappings,
                                  const std::vector<DeviceId>& peers = {});
  // Requires: the range covers whole mappings, and no queued work touches it.
  [[nodiscard]] Status unmap(DeviceAddress address, Bytes size, std::uint64_t mappings);

  // --- Plain memory (cuMemAlloc, cuMemFree; freeing may synchronise the device) ---
  [[nodiscard]] Result<DeviceAddress> alloc(Bytes size);
  [[nodiscard]] Status free(DeviceAddress address);

  // --- Pinned host memory ---
  [[nodiscard]] Result<void*> host_alloc(Bytes size);
  [[nodiscard]] Status host_free(void* pointer);

  // --- Copies ---
  [[nodiscard]] Result<MemoryRange> describe(std::uint64_t address);
  // Queues a copy between any two addresses, device or host. Requires: neither side crosses the end
  // of a host registration; the bytes stay valid until it has run.
  [[nodiscard]] Status copy(std::uint64_t destination, std::uint64_t source, Bytes size,
                            StreamRef stream);

  // --- Order ---
  [[nodiscard]] Result<StreamRef>
  create_stream();  // does not synchronise with the legacy default stream
  [[nodiscard]] Status destroy_stream(StreamRef stream);
  [[nodiscard]] Result<EventHandle> create_event();
  [[nodiscard]] Status destroy_event(EventHandle event);
  [[nodiscard]] Status record(EventHandle event, StreamRef stream);
  // Captures all work queued in the context so far. not_supported before driver 12.5.
  [[nodiscard]] Status record_context(EventHandle event);
  [[nodiscard]] Result<bool> query(EventHandle event);  // true: everything before it has finished
  [[nodiscard]] Status wait(StreamRef stream,
                            EventHandle event);         // orders later work of `stream` after it
  [[nodiscard]] Status synchronize(EventHandle event);  // blocks the host
  [[nodiscard]] Status synchronize(StreamRef stream);   // blocks the host
  [[nodiscard]] Status synchronize();                   // blocks the host: the whole context
  // Whether the stream is of this device's primary context. Error: no living stream has the handle,
  // where the driver notices.
  [[nodiscard]] Result<bool> owns(StreamRef stream);
  // capture_active: the legacy default stream was asked about while another stream captures.
  [[nodiscard]] Result<bool> is_capturing(StreamRef stream);

  // --- Marks, for tools that check who wrote what (asynchronous, on `stream`) ---
  // Fills `rows` 32-bit words, `pitch` apart, from `address` on. pitch: a multiple of 4.
  [[nodiscard]] Status fill_words(DeviceAddress address, Bytes pitch, std::uint64_t rows,
                                  std::uint32_t value, StreamRef stream);
  // Copies `rows` words, `pitch` apart, to consecutive words of pinned host memory.
  [[nodiscard]] Status read_words(std::uint32_t* host, DeviceAddress address, Bytes pitch,
                                  std::uint64_t rows, StreamRef stream);

 private:
  Device(const Driver& driver, DeviceId id) : driver_(driver), id_(id) {}
  template <typename Function, typename... Arguments>
  [[nodiscard]] Status call(const char* site, Function function, Arguments... arguments) const;

  const Driver& driver_;
  DeviceId id_;
  int device_ = 0;           // CUdevice
  void* context_ = nullptr;  // CUcontext
  Bytes granularity_;
  CallCounters counters_;
};

// capture_active while the stream captures: nothing that is queued on it would run before the
// graph does. The capture stays as it is.
[[nodiscard]] Status refuse_capturing(Device& device, StreamRef stream);

}  // namespace ferry
