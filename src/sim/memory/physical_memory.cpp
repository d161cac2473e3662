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

std::shared_ptr<PhysicalBlock> PhysicalMemory::create(int device, std::uint64_t size) {
  if (Bytes{size} > free(device)) return nullptr;
  if (largest_piece_ && Bytes{size} > *largest_piece_) return nullptr;
  Bytes& used = in_use_[static_cast<std::size_t>(device)];
  used += Bytes{size};
  const std::uint64_t position = next_position_;
  next_position_ += size;
  return {new PhysicalBlock(next_id_++, position, device, size),
          [this](PhysicalBlock* block) { destroy(block); }};
}

void PhysicalMemory::destroy(PhysicalBlock* block) {
  in_use_[static_cast<std::size_t>(block->device)] -= Bytes{block->size};
  for (const auto& frame : block->frames_) {
    if (frame) window_->give(frame->slot, frame->touched);
  }
  delete block;
}

const std::byte* PhysicalMemory::peek_page(const PhysicalBlock& block, std::uint64_t offset) const {
  if (block.frames_.empty()) return nullptr;
  const auto& frame = block.frames_[offset / kFrameBytes];
  const std::uint64_t in_frame = offset % kFrameBytes;
  if (!frame || !frame->touched.test(in_frame / kPageBytes)) return nullptr;
  return window_->data(frame->slot) + in_frame;
}

void PhysicalMemory::read(const PhysicalBlock& block, std::uint64_t offset, std::byte* out,
                          std::uint64_t bytes) const {
  while (bytes > 0) {
    const std::uint64_t step = std::min(bytes, kPageBytes - offset % kPageBytes);
    if (const std::byte* page = peek_page(block, offset)) {
      std::memcpy(out, page, step);
    } else {
      std::memset(out, kPoison, step);
    }
    offset += step;
    out += step;
    bytes -= step;
  }
}

void PhysicalMemory::discard(PhysicalBlock& block, std::uint64_t offset, std::uint64_t bytes) {
  if (block.frames_.empty()) return;
  while (bytes > 0) {
    const std::uint64_t in_page = offset % kPageBytes;
    const std::uint64_t step = std::min(bytes, kPageBytes - in_page);
    const std::uint64_t page = offset % kFrameBytes / kPageBytes;
    const auto& frame = block.frames_[offset / kFrameBytes];
    if (frame && frame->touched.test(page)) {
      // The page keeps what other allocations hold in its other bytes.
      std::memset(window_->data(frame->slot) + offset % kFrameBytes, kPoison, step);
    }
    offset += step;
    bytes -= step;
  }
}

std::byte* PhysicalMemory::open_for_write(PhysicalBlock& block, std::uint64_t offset,
                                          std::uint64_t bytes) {
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
    std::memset(data + page * kPageBytes, kPoison, kPageBytes);
    frame->touched.set(page);
  }
  for (std::uint64_t page = first_page; page <= last_page; ++page) frame->touched.set(page);
  return data + start;
}

}  // namespace ferry::sim
