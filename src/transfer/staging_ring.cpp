// SPDX-License-Identifier: Apache-2.0
#include "transfer/staging_ring.hpp"

#include <algorithm>
#include <cstring>

namespace ferry {

namespace {

void* host_pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace

StagingRing::~StagingRing() {
  for (Buffer& buffer : buffers_) {
    // At process exit the driver may be gone already; then no work is left that uses the buffer.
    static_cast<void>(wait_for(buffer));
    if (buffer.event.value != nullptr) events_.give_back(buffer.event);
    static_cast<void>(pinned_.free(buffer.memory));
  }
}

// A buffer that the host may write: made on first use, and no longer read or written by the device.
Status StagingRing::prepare(Buffer& buffer) {
  if (buffer.memory == nullptr) {
    const Result<void*> memory = pinned_.allocate(Bytes{kBufferBytes});
    if (!memory) return memory.error();
    buffer.memory = *memory;
  }
  if (buffer.event.value == nullptr) {
    const Result<EventHandle> event = events_.take();
    if (!event) return event.error();
    buffer.event = *event;
  }
  return wait_for(buffer);
}

Status StagingRing::wait_for(Buffer& buffer) {
  if (!buffer.in_use) return {};
  FERRY_TRY(device_.synchronize(buffer.event));
  buffer.in_use = false;
  return {};
}

// The device uses the buffer until the work queued so far has run. Where that cannot be marked, it
// is waited for.
Status StagingRing::mark(Buffer& buffer, StreamRef stream) {
  if (const Status marked = device_.record(buffer.event, stream); !marked)
    return device_.synchronize(stream) ? marked : device_.synchronize();
  buffer.in_use = true;
  return {};
}

Status StagingRing::upload(std::uint64_t destination, std::uint64_t source, Bytes bytes,
                           StreamRef stream) {
  std::size_t turn = 0;
  for (std::uint64_t done = 0; done < bytes.count; turn = 1 - turn) {
    Buffer& buffer = buffers_[turn];
    FERRY_TRY(prepare(buffer));
    const std::uint64_t step = std::min(bytes.count - done, kBufferBytes);
    std::memcpy(buffer.memory, host_pointer(source + done), step);
    const Status queued = device_.copy(
        destination + done, reinterpret_cast<std::uintptr_t>(buffer.memory), Bytes{step}, stream);
    FERRY_TRY(mark(buffer, stream));
    FERRY_TRY(queued);
    done += step;
  }
  return {};
}

Status StagingRing::download(std::uint64_t destination, std::uint64_t source, Bytes bytes,
                             StreamRef stream) {
  std::size_t turn = 0;
  Status status;
  for (std::uint64_t done = 0; done < bytes.count && status; turn = 1 - turn) {
    Buffer& buffer = buffers_[turn];
    status = deliver(buffer);
    if (status) status = prepare(buffer);
    if (!status) break;
    const std::uint64_t step = std::min(bytes.count - done, kBufferBytes);
    status = device_.copy(reinterpret_cast<std::uintptr_t>(buffer.memory), source + done,
                          Bytes{step}, stream);
    const Status marked = mark(buffer, stream);
    if (status) status = marked;
    if (!status) break;
    buffer.owed_to = destination + done;
    buffer.owed = step;
    done += step;
  }
  // The older of the two first; after a failure what was fetched before it still arrives.
  for (const std::size_t which : {turn, 1 - turn}) {
    const Status delivered = deliver(buffers_[which]);
    if (status) status = delivered;
  }
  return status;
}

// Hands over what a buffer has fetched, once it is there.
Status StagingRing::deliver(Buffer& buffer) {
  if (buffer.owed == 0) return {};
  const std::uint64_t bytes = buffer.owed;
  buffer.owed = 0;
  FERRY_TRY(wait_for(buffer));
  std::memcpy(host_pointer(buffer.owed_to), buffer.memory, bytes);
  return {};
}

}  // namespace ferry
