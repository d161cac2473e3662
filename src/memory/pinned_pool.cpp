// SPDX-License-Identifier: Apache-2.0
#include "memory/pinned_pool.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "driver/outside_captures.hpp"

namespace ferry {

namespace {

constexpr std::uint64_t kPage = 4096;

// The most that a request of `size` may be given.
constexpr std::uint64_t kMostWasteShift = 5;
constexpr std::uint64_t largest_for(std::uint64_t size) {
  return size + (size >> kMostWasteShift);
}

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}
void* pointer_to(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace

PinnedPool::~PinnedPool() {
  const MutexLock lock(mutex_);
  // At process exit the driver may be gone already; then no queued work is left either, and the
  // memory goes with the process.
  static_cast<void>(device_.synchronize());
  for (const Fenced& block : fenced_) events_.give_back(block.events);
  for (const auto& [address, events] : uses_) events_.give_back(events);
  for (const auto& [address, block] : live_)
    static_cast<void>(device_.host_free(pointer_to(address)));
  for (const auto& [address, size] : freed_)
    static_cast<void>(device_.host_free(pointer_to(address)));
}

Result<void*> PinnedPool::allocate(Bytes bytes) {
  if (bytes.count == 0) return static_cast<void*>(nullptr);
  if (bytes > kLargestRequest) return Status(Code::out_of_memory, "pinned pool");
  const std::uint64_t size = align_up(bytes.count, kPage);
  const OutsideCaptures outside(device_.driver());
  const MutexLock lock(mutex_);
  poll_fences();
  std::uint64_t address = take_free(size);
  std::uint64_t given = size;
  if (address != 0) {
    given = freed_.at(address);
    freed_.erase(address);
    ++stats_.blocks_reused;
  } else {
    const Result<std::uint64_t> pinned = pin(size);
    if (!pinned) return pinned.error();
    address = *pinned;
  }
  live_.emplace(address, Live{given, bytes.count});
  ++stats_.allocations;
  stats_.allocated_bytes += Bytes{given};
  stats_.requested_bytes += bytes;
  return pointer_to(address);
}

// A free block that is large enough and not too large; 0 when there is none.
std::uint64_t PinnedPool::take_free(std::uint64_t size) {
  const auto block = free_.lower_bound(size);
  if (block == free_.end() || block->first > largest_for(size)) return 0;
  const std::uint64_t address = block->second;
  free_.erase(block);
  return address;
}

// New pinned memory. When the system refuses, free blocks of other sizes are given up for it.
Result<std::uint64_t> PinnedPool::pin(std::uint64_t size) {
  for (;;) {
    const Result<void*> made = device_.host_alloc(Bytes{size});
    if (made) {
      ++stats_.blocks_made;
      stats_.reserved_bytes += Bytes{size};
      stats_.reserved_bytes_peak = std::max(stats_.reserved_bytes_peak, stats_.reserved_bytes);
      return address_of(*made);
    }
    if (made.error().code() != Code::out_of_memory || free_.empty()) return made.error();
    const auto largest = std::prev(free_.end());
    const auto [bytes, address] = *largest;
    FERRY_TRY(device_.host_free(pointer_to(address)));
    free_.erase(largest);
    freed_.erase(address);
    stats_.reserved_bytes -= Bytes{bytes};
  }
}

Status PinnedPool::free(void* pointer) {
  if (pointer == nullptr) return {};
  const MutexLock lock(mutex_);
  const std::uint64_t address = address_of(pointer);
  const auto entry = live_.find(address);
  if (entry == live_.end()) {
    return Status(freed_.contains(address) ? Code::already_freed : Code::not_owned, "pinned pool");
  }
  const Live block = entry->second;
  live_.erase(entry);
  --stats_.allocations;
  stats_.allocated_bytes -= Bytes{block.size};
  stats_.requested_bytes -= Bytes{block.requested};
  freed_.emplace(address, block.size);
  const auto uses = uses_.find(address);
  if (uses == uses_.end()) {
    free_.emplace(block.size, address);
  } else {
    fenced_.push_back({address, block.size, std::move(uses->second)});
    uses_.erase(uses);
  }
  return {};
}

Status PinnedPool::record_use(const void* pointer, StreamRef stream) {
  const OutsideCaptures outside(device_.driver());
  const MutexLock lock(mutex_);
  const auto block = containing(address_of(pointer));
  if (block == live_.end()) return Status(Code::not_owned, "pinned pool");
  std::vector<EventHandle>& events = uses_[block->first];
  // Uses that have ended are forgotten, so that a block copied for ever keeps few events.
  std::erase_if(events, [&](EventHandle event) { return events_.give_back_if_reached(event); });
  const Result<EventHandle> event = events_.record(stream);
  if (!event) return event.error();
  events.push_back(*event);
  return {};
}

bool PinnedPool::owns(const void* pointer) const {
  const MutexLock lock(mutex_);
  return containing(address_of(pointer)) != live_.end();
}

PinnedPool::LiveBlocks::const_iterator PinnedPool::containing(std::uint64_t address) const {
  auto block = live_.upper_bound(address);
  if (block == live_.begin()) return live_.end();
  --block;
  return address < block->first + block->second.size ? block : live_.end();
}

void PinnedPool::poll_fences() {
  std::erase_if(fenced_, [&](Fenced& block) {
    while (!block.events.empty()) {
      if (!events_.give_back_if_reached(block.events.back())) return false;
      block.events.pop_back();
    }
    free_.emplace(block.size, block.address);
    return true;
  });
}

Result<Bytes> PinnedPool::trim(Bytes keep) {
  const OutsideCaptures outside(device_.driver());
  const MutexLock lock(mutex_);
  poll_fences();
  Bytes returned;
  while (stats_.reserved_bytes > keep && !free_.empty()) {
    const auto largest = std::prev(free_.end());
    const auto [size, address] = *largest;
    FERRY_TRY(device_.host_free(pointer_to(address)));
    free_.erase(largest);
    freed_.erase(address);
    stats_.reserved_bytes -= Bytes{size};
    returned += Bytes{size};
  }
  return returned;
}

PinnedPoolStats PinnedPool::stats() const {
  const MutexLock lock(mutex_);
  PinnedPoolStats stats = stats_;
  for (const Fenced& block : fenced_) stats.fenced_bytes += Bytes{block.size};
  return stats;
}

std::string PinnedPool::out_of_memory_report(Bytes asked) const {
  const PinnedPoolStats now = stats();
  const std::string held =
      fmt::format("the pool holds {}: {} in {} live blocks, {} freed but still used by queued work",
                  format_bytes(now.reserved_bytes), format_bytes(now.allocated_bytes),
                  now.allocations, format_bytes(now.fenced_bytes));
  if (asked > kLargestRequest) {
    return fmt::format(
        "{} bytes were asked for, and no request may be larger than {}: look at how the size was "
        "computed ({})",
        asked.count, format_bytes(kLargestRequest), held);
  }
  return fmt::format(
      "{} ({} bytes) of pinned memory were asked for; {}. Free blocks that are no longer needed, "
      "or trim other pools; else the machine has no more memory to pin, or a limit on locked "
      "memory (ulimit -l, the container's) stands in the way",
      format_bytes(asked), asked.count, held);
}

std::string PinnedPool::place_of(const void* pointer) const {
  const MutexLock lock(mutex_);
  const std::uint64_t address = address_of(pointer);
  if (const auto block = containing(address); block != live_.end()) {
    return fmt::format(
        "{:#x} lies {} bytes into the block of {} bytes that starts at {:#x}; a block is freed by "
        "its start",
        address, address - block->first, block->second.requested, block->first);
  }
  for (const auto& [start, size] : freed_) {
    if (address >= start && address < start + size) {
      return fmt::format(
          "{:#x} lies {} bytes into a block that has been freed, which starts at {:#x}", address,
          address - start, start);
    }
  }
  return fmt::format("{:#x} lies in none of the pool's {} live blocks", address, live_.size());
}

}  // namespace ferry
