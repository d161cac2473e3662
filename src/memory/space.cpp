// SPDX-License-Identifier: Apache-2.0
#include "memory/space.hpp"

#include <algorithm>

namespace ferry {

Result<std::unique_ptr<Space>> Space::reserve(Device& device, std::uint64_t size,
                                              std::uint64_t smallest) {
  for (;;) {
    const Result<DeviceAddress> base = device.reserve(Bytes{size});
    if (base) return std::unique_ptr<Space>(new Space(device, *base, size));
    if (size == smallest) return base.error();
    size = std::max(align_down(size / 8, device.granularity().count), smallest);
  }
}

Space::Space(Device& device, DeviceAddress base, std::uint64_t size)
    : device_(device), base_(base), segment_(size, device.granularity().count) {}

Space::~Space() {
  // At process exit the driver may be gone already: then the process's memory goes with it.
  for (const auto& [offset, chunk] : chunks_) {
    static_cast<void>(device_.unmap(address(offset), Bytes{chunk.size}, 1));
    static_cast<void>(device_.release(chunk.handle, Bytes{chunk.size}));
  }
  static_cast<void>(device_.free_reservation(base_, Bytes{segment_.size()}));
}

std::vector<Gap> Space::gaps(std::uint64_t offset, std::uint64_t size) const {
  std::vector<Gap> gaps;
  const std::uint64_t page = segment_.page();
  const std::uint64_t end = align_up(offset + size, page);
  for (BlockId id = segment_.block_at(offset);
       id != kNoBlock && segment_.block(id).offset < offset + size; id = segment_.block(id).next) {
    const Block& block = segment_.block(id);
    if (block.state != BlockState::empty) continue;
    const std::uint64_t from = std::max(align_down(offset, page), block.offset);
    gaps.push_back(Gap{from, std::min(end, block.end()) - from});
  }
  return gaps;
}

Status Space::commit_new(Gap gap, const GrowthPolicy& policy) {
  std::vector<Chunk> fresh;
  std::uint64_t made = 0;
  Status status;
  while (made < gap.size) {
    const std::uint64_t size = policy.chunk_for(gap.size - made);
    const Result<PhysicalHandle> handle = device_.create(Bytes{size});
    if (!handle) {
      status = handle.error();
      break;
    }
    fresh.push_back(Chunk{*handle, size});
    made += size;
  }
  if (fresh.empty()) return status;
  if (const Status mapped = commit_moved(gap.offset, fresh); !mapped) {
    for (const Chunk& chunk : fresh)
      static_cast<void>(device_.release(chunk.handle, Bytes{chunk.size}));
    return mapped;
  }
  return status;
}

Status Space::commit_moved(std::uint64_t offset, const std::vector<Chunk>& chunks) {
  std::uint64_t end = offset;
  std::size_t mapped = 0;
  Status status;
  for (; mapped < chunks.size() && status; ++mapped) {
    status = device_.map(address(end), Bytes{chunks[mapped].size}, chunks[mapped].handle);
    if (!status) break;
    end += chunks[mapped].size;
  }
  if (status) status = device_.set_access(address(offset), Bytes{end - offset}, mapped, peers_);
  if (!status) {
    if (mapped > 0) static_cast<void>(device_.unmap(address(offset), Bytes{end - offset}, mapped));
    return status;
  }
  std::uint64_t at = offset;
  for (const Chunk& chunk : chunks) {
    chunks_.emplace(at, chunk);
    at += chunk.size;
  }
  segment_.commit(offset, end - offset);
  committed_ += end - offset;
  return {};
}

Status Space::open_to(const std::vector<DeviceId>& peers) {
  for (const auto& [offset, chunk] : chunks_)
    FERRY_TRY(device_.set_access(address(offset), Bytes{chunk.size}, 1, peers));
  peers_ = peers;
  return {};
}

Result<Chunk> Space::detach(std::uint64_t offset) {
  const auto entry = chunks_.find(offset);
  const Chunk chunk = entry->second;
  if (const Status status = device_.unmap(address(offset), Bytes{chunk.size}, 1); !status)
    return status;
  segment_.decommit(offset, chunk.size);
  chunks_.erase(entry);
  committed_ -= chunk.size;
  return chunk;
}

void Space::for_each_idle_chunk(
    const std::function<void(std::uint64_t, const Chunk&, const Block&)>& visit) const {
  for (BlockId id = segment_.first(); id != kNoBlock; id = segment_.block(id).next) {
    const Block& block = segment_.block(id);
    if (block.state != BlockState::idle) continue;
    for (auto entry = chunks_.lower_bound(block.offset);
         entry != chunks_.end() && entry->first + entry->second.size <= block.end(); ++entry) {
      visit(entry->first, entry->second, block);
    }
  }
}

}  // namespace ferry
