// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/shared_memory.hpp"

#include <atomic>
#include <cstring>
#include <utility>

#include "base/bytes.hpp"
#include "sim/memory/frame_window.hpp"

namespace ferry::sim {

// In the file. A place is free while its generation is 0.
struct SharedMemory::Place {
  std::uint64_t generation;
  Offer offer;
};

namespace {

constexpr std::uint64_t kPlaceBytes = 40;
constexpr std::uint64_t kOffersBytes =
    align_up(SharedMemory::kMostOffers * kPlaceBytes, kPageBytes);
constexpr std::uint64_t kLargest = std::uint64_t{1} << 46;  // more than any device has

std::uint64_t written_bytes(std::uint64_t size) {
  return align_up(align_up(size / kPageBytes, 64) / 8, kPageBytes);
}

std::uint64_t head_bytes(std::uint64_t size) {
  return kOffersBytes + written_bytes(size);
}

bool lies_in(std::uint64_t start, std::uint64_t size, std::uint64_t whole) {
  return size > 0 && start <= whole && size <= whole - start;
}

}  // namespace

SharedMemory::SharedMemory(std::shared_ptr<SealedFile> file, MappedPart head)
    : file_(std::move(file)), head_(std::move(head)) {}

std::shared_ptr<SharedMemory> SharedMemory::create(const SharedDescription& description) {
  const std::uint64_t size = description.size;
  return open(SealedFile::create(description, head_bytes(size) + size));
}

std::shared_ptr<SharedMemory> SharedMemory::open(std::shared_ptr<SealedFile> file) {
  if (!file) return nullptr;
  const std::uint64_t size = file->description().size;
  if (size == 0 || size > kLargest || size % kPageBytes != 0) return nullptr;
  if (file->bytes() != head_bytes(size) + size) return nullptr;
  MappedPart head = file->map(0, head_bytes(size));
  if (head.data() == nullptr) return nullptr;
  return std::shared_ptr<SharedMemory>(new SharedMemory(std::move(file), std::move(head)));
}

SharedMemory::Place& SharedMemory::place(std::uint32_t number) const {
  static_assert(sizeof(Place) == kPlaceBytes);
  return reinterpret_cast<Place*>(head_.data())[number];
}

std::optional<OfferId> SharedMemory::offer(const Offer& offer) {
  for (std::uint32_t tried = 0; tried < kMostOffers; ++tried) {
    const std::uint32_t number = next_place_;
    next_place_ = (next_place_ + 1) % kMostOffers;
    Place& at = place(number);
    const std::atomic_ref<std::uint64_t> generation(at.generation);
    if (generation.load(std::memory_order_relaxed) != 0) continue;
    at.offer = offer;
    generation.store(next_generation_, std::memory_order_release);
    return OfferId{number, next_generation_++};
  }
  return std::nullopt;
}

void SharedMemory::withdraw(const OfferId& id) {
  std::atomic_ref<std::uint64_t>(place(id.place).generation).store(0, std::memory_order_release);
}

std::optional<Offer> SharedMemory::find(const OfferId& id) const {
  if (id.place >= kMostOffers || id.generation == 0) return std::nullopt;
  Place& at = place(id.place);
  const std::atomic_ref<std::uint64_t> generation(at.generation);
  if (generation.load(std::memory_order_acquire) != id.generation) return std::nullopt;
  const Offer offer = at.offer;
  if (generation.load(std::memory_order_acquire) != id.generation) return std::nullopt;
  const bool sound = lies_in(offer.block_start, offer.block_size, size()) &&
                     lies_in(offer.offset, offer.size, offer.block_size) &&
                     offer.block_start % kPageBytes == 0 && offer.block_size % kPageBytes == 0;
  return sound ? std::optional(offer) : std::nullopt;
}

std::uint64_t& SharedMemory::written_word(std::uint64_t page) const {
  return reinterpret_cast<std::uint64_t*>(head_.data() + kOffersBytes)[page / 64];
}

bool SharedMemory::is_written(std::uint64_t page) const {
  const std::atomic_ref<std::uint64_t> word(written_word(page));
  return (word.load(std::memory_order_acquire) >> (page % 64) & 1U) != 0;
}

void SharedMemory::mark_written(std::uint64_t page) {
  const std::atomic_ref<std::uint64_t> word(written_word(page));
  word.fetch_or(std::uint64_t{1} << (page % 64), std::memory_order_release);
}

MappedPart SharedMemory::map(std::uint64_t start, std::uint64_t bytes) const {
  return file_->map(head_bytes(size()) + start, bytes);
}

bool SharedMemory::lock_page(std::uint64_t page) const {
  return file_->lock(head_bytes(size()) + page * kPageBytes, kPageBytes);
}

void SharedMemory::unlock_page(std::uint64_t page) const {
  file_->unlock(head_bytes(size()) + page * kPageBytes, kPageBytes);
}

std::byte* SharedRange::data() {
  if (mapped_.data() == nullptr) mapped_ = memory_->map(start_, size_);
  return mapped_.data();
}

std::byte* SharedRange::peek(std::uint64_t offset) {
  if (!memory_->is_written((start_ + offset) / kPageBytes)) return nullptr;
  std::byte* const bytes = data();
  return bytes == nullptr ? nullptr : bytes + offset;
}

// Two processes may write different parts of one page, in no order. Only one of them may fill it.
bool SharedRange::prepare(std::uint64_t page) {
  if (memory_->is_written(page)) return true;
  if (!memory_->lock_page(page)) return false;
  if (!memory_->is_written(page)) {
    std::memset(data() + (page * kPageBytes - start_), kPoison, kPageBytes);
    memory_->mark_written(page);
  }
  memory_->unlock_page(page);
  return true;
}

std::byte* SharedRange::open_for_write(std::uint64_t offset, std::uint64_t bytes) {
  std::byte* const room = data();
  if (room == nullptr) return nullptr;
  const std::uint64_t start = start_ + offset;
  const std::uint64_t end = start + bytes;
  for (std::uint64_t page = start / kPageBytes; page * kPageBytes < end; ++page) {
    const bool whole = start <= page * kPageBytes && end >= (page + 1) * kPageBytes;
    if (whole) {
      memory_->mark_written(page);
    } else if (!prepare(page)) {
      return nullptr;
    }
  }
  return room + offset;
}

}  // namespace ferry::sim
