// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/physical_memory.hpp"

#include <algorithm>
#include <cstring>

namespace ferry::sim {

namespace {

constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 40;

}  // namespace

PhysicalMemory::PhysicalMemory(int devices, Bytes capacity, bool with_data)
    : capacity_(capacity), with_data_(with_data), in_use_(static_cast<std::size_t>(devices)) {
  if (with_data) window_.emplace(kWindowBytes);
}

Bytes PhysicalMemory::free(int device) const {
  const Bytes own = capacity_ - in_use(device);
  return own > taken_ ? own - taken_ : Bytes{};
}

std::shared_ptr<PhysicalBlock> PhysicalMemory::make(int device, std::uint64_t size) {
  const std::uint64_t position = next_position_;
  next_position_ += size;
  std::shared_ptr<PhysicalBlock> block(new PhysicalBlock(next_id_++, position, device, size),
                                       [this](PhysicalBlock* gone) { destroy(gone); });
  block->unwritten_ = unwritten_;
  return block;
}

std::shared_ptr<PhysicalBlock> PhysicalMemory::create(int device, std::uint64_t size) {
  if (Bytes{size} > free(device)) return nullptr;
  if (largest_piece_ && Bytes{size} > *largest_piece_) return nullptr;
  std::shared_ptr<PhysicalBlock> block = make(device, size);
  in_use_[static_cast<std::size_t>(device)] += Bytes{size};
  return block;
}

void PhysicalMemory::destroy(PhysicalBlock* block) {
  if (!block->foreign_) in_use_[static_cast<std::size_t>(block->device)] -= Bytes{block->size};
  if (const SharedRange* const range = block->shared()) {
    for (const auto& [offset, id] : block->offers_) range->memory().withdraw(id);
    shared_.erase({range->memory().file().id(), range->start(), range->size()});
  }
  give_frames(*block);
  delete block;
}

void PhysicalMemory::give_frames(PhysicalBlock& block) {
  for (const auto& frame : block.frames_) {
    if (frame) window_->give(frame->slot, frame->touched);
  }
  block.frames_.clear();
}

void PhysicalMemory::attach(const std::shared_ptr<PhysicalBlock>& block,
                            std::unique_ptr<SharedRange> range) {
  shared_[{range->memory().file().id(), range->start(), range->size()}] = block;
  block->shared_ = std::move(range);
}

bool PhysicalMemory::share(const std::shared_ptr<PhysicalBlock>& block,
                           std::shared_ptr<SharedMemory> memory, std::uint64_t start) {
  auto range = std::make_unique<SharedRange>(std::move(memory), start, block->size);
  for (std::size_t number = 0; number < block->frames_.size(); ++number) {
    const auto& frame = block->frames_[number];
    if (!frame) continue;
    for (std::size_t page = 0; page < kPagesPerFrame; ++page) {
      if (!frame->touched.test(page)) continue;
      const std::uint64_t in_frame = page * kPageBytes;
      std::byte* const room = range->open_for_write(number * kFrameBytes + in_frame, kPageBytes);
      if (room == nullptr) return false;
      std::memcpy(room, window_->data(frame->slot) + in_frame, kPageBytes);
    }
  }
  give_frames(*block);
  attach(block, std::move(range));
  return true;
}

std::shared_ptr<PhysicalBlock> PhysicalMemory::adopt(std::shared_ptr<SharedMemory> memory,
                                                     std::uint64_t start, std::uint64_t size,
                                                     int device) {
  const auto found = shared_.find({memory->file().id(), start, size});
  if (found != shared_.end()) return found->second.lock();
  std::shared_ptr<PhysicalBlock> block = make(device, size);
  block->foreign_ = true;
  block->rdma = memory->description().rdma != 0;
  attach(block, std::make_unique<SharedRange>(std::move(memory), start, size));
  return block;
}

std::optional<OfferId> PhysicalMemory::offer(PhysicalBlock& block, std::uint64_t offset,
                                             std::uint64_t size) {
  const auto known = block.offers_.find(offset);
  if (known != block.offers_.end()) return known->second;
  SharedRange& range = *block.shared_;
  const std::optional<OfferId> id =
      range.memory().offer({range.start(), range.size(), offset, size});
  if (id) block.offers_.emplace(offset, *id);
  return id;
}

void PhysicalMemory::withdraw(PhysicalBlock& block, std::uint64_t offset) {
  const auto known = block.offers_.find(offset);
  if (known == block.offers_.end()) return;
  block.shared_->memory().withdraw(known->second);
  block.offers_.erase(known);
}

// The byte at `offset`; null where its page was never written.
std::byte* PhysicalMemory::written_page(const PhysicalBlock& block, std::uint64_t offset) const {
  if (block.shared_) return block.shared_->peek(offset);
  if (block.frames_.empty()) return nullptr;
  const auto& frame = block.frames_[offset / kFrameBytes];
  const std::uint64_t in_frame = offset % kFrameBytes;
  if (!frame || !frame->touched.test(in_frame / kPageBytes)) return nullptr;
  return window_->data(frame->slot) + in_frame;
}

const std::byte* PhysicalMemory::peek_page(const PhysicalBlock& block, std::uint64_t offset) const {
  return written_page(block, offset);
}

void PhysicalMemory::read(const PhysicalBlock& block, std::uint64_t offset, std::byte* out,
                          std::uint64_t bytes) const {
  while (bytes > 0) {
    const std::uint64_t step = std::min(bytes, kPageBytes - offset % kPageBytes);
    if (const std::byte* page = peek_page(block, offset)) {
      std::memcpy(out, page, step);
    } else {
      std::memset(out, block.unwritten_, step);
    }
    offset += step;
    out += step;
    bytes -= step;
  }
}

bool PhysicalMemory::map_in_frame(PhysicalBlock& block, std::uint64_t offset, std::uint64_t bytes,
                                  std::byte* where) {
  for (std::uint64_t page = offset; page < offset + bytes; page += kPageBytes) {
    if (peek_page(block, page) != nullptr) continue;
    std::byte* const room = open_for_write(block, page, kPageBytes);
    if (room == nullptr) return false;
    std::memset(room, block.unwritten_, kPageBytes);
  }
  const std::uint32_t frame = block.frames_[offset / kFrameBytes]->slot;
  return window_->map(frame, offset % kFrameBytes, bytes, where);
}

void PhysicalMemory::discard(PhysicalBlock& block, std::uint64_t offset, std::uint64_t bytes) {
  while (bytes > 0) {
    const std::uint64_t step = std::min(bytes, kPageBytes - offset % kPageBytes);
    // The page keeps what other allocations hold in its other bytes.
    if (std::byte* const page = written_page(block, offset))
      std::memset(page, block.unwritten_, step);
    offset += step;
    bytes -= step;
  }
}

std::byte* PhysicalMemory::open_for_write(PhysicalBlock& block, std::uint64_t offset,
                                          std::uint64_t bytes) {
  if (block.shared_) return block.shared_->open_for_write(offset, bytes);
  if (block.frames_.empty()) block.frames_.resize(align_up(block.size, kFrameBytes) / kFrameBytes);
  auto& frame = block.frames_[offset / kFrameBytes];
  if (!frame) {
    const std::optional<std::uint32_t> slot = window_->take();
    if (!slot) return nullptr;
    frame = std::make_unique<PhysicalBlock::Frame>();
    frame->slot = *slot;
  }
  const std::uint64_t start = offset % kFrameBytes;
  std::byte* const data = window_->data(frame->slot);
  const std::uint64_t first_page = start / kPageBytes;
  const std::uint64_t last_page = (start + bytes - 1) / kPageBytes;
  // Only the pages at both ends can be written in part; their other bytes must read as unwritten.
  for (std::uint64_t page : {first_page, last_page}) {
    const bool whole = start <= page * kPageBytes && start + bytes >= (page + 1) * kPageBytes;
    if (whole || frame->touched.test(page)) continue;
    std::memset(data + page * kPageBytes, block.unwritten_, kPageBytes);
    frame->touched.set(page);
  }
  for (std::uint64_t page = first_page; page <= last_page; ++page) frame->touched.set(page);
  return data + start;
}

}  // namespace ferry::sim
