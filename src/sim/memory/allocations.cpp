// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/allocations.hpp"

#include "base/bytes.hpp"

namespace ferry::sim {

namespace {

constexpr std::uint64_t kLargestShared = std::uint64_t{1} << 20;
constexpr std::uint64_t kAlignment = 512;

}  // namespace

void Allocations::set_reuse_at_once(bool at_once) {
  reuse_at_once_ = at_once;
  for (auto& [start, shared] : shared_) shared.free.set_reuse_at_once(at_once);
}

std::optional<std::uint64_t> Allocations::allocate(std::uint64_t context, int device,
                                                   std::uint64_t bytes) {
  if (bytes <= kLargestShared) return allocate_shared(context, device, bytes);
  if (bytes > physical_.capacity().count) return std::nullopt;
  const std::uint64_t size = align_up(bytes, kFrameBytes);
  std::shared_ptr<PhysicalBlock> block = physical_.create(device, size);
  if (!block) return std::nullopt;
  const std::optional<std::uint64_t> start = addresses_.take(size, kFrameBytes);
  if (!start) return std::nullopt;
  add_mapping(context, *start, bytes, std::move(block), 0);
  return start;
}

std::optional<std::uint64_t> Allocations::allocate_shared(std::uint64_t context, int device,
                                                          std::uint64_t bytes) {
  for (auto& [start, shared] : shared_) {
    if (shared.context != context) continue;
    if (const std::optional<std::uint64_t> address = place(shared, bytes)) return address;
  }
  std::shared_ptr<PhysicalBlock> block = physical_.create(device, kFrameBytes);
  if (!block) return std::nullopt;
  const std::optional<std::uint64_t> start = addresses_.take(kFrameBytes, kFrameBytes);
  if (!start) return std::nullopt;
  Shared& shared = shared_.try_emplace(*start, context, *start, std::move(block)).first->second;
  shared.free.set_reuse_at_once(reuse_at_once_);
  return place(shared, bytes);
}

std::optional<std::uint64_t> Allocations::place(Shared& shared, std::uint64_t bytes) {
  const std::optional<std::uint64_t> offset =
      shared.free.take(align_up(bytes, kAlignment), kAlignment);
  if (!offset) return std::nullopt;
  add_mapping(shared.context, shared.start + *offset, bytes, shared.block, *offset);
  return shared.start + *offset;
}

void Allocations::add_mapping(std::uint64_t context, std::uint64_t start, std::uint64_t size,
                              std::shared_ptr<PhysicalBlock> block, std::uint64_t offset) {
  Mapping mapping;
  mapping.start = start;
  mapping.size = size;
  mapping.block = std::move(block);
  mapping.offset = offset;
  // The driver's own copies reach plain memory of every device, with or without peer access.
  mapping.rights.set(mapping.block->device, Access::read_write);
  mapping.kind = Mapping::Kind::allocation;
  mapping.context = context;
  pages_.add(std::move(mapping));
}

bool Allocations::free(std::uint64_t address) {
  PageTable::Mappings& mappings = pages_.mappings();
  const auto found = mappings.find(address);
  if (found == mappings.end() || !found->second.is_plain()) return false;
  const std::uint64_t size = found->second.size;
  physical_.withdraw(*found->second.block, found->second.offset);
  pages_.remove(found, std::next(found));
  const auto shared = shared_.find(align_down(address, kFrameBytes));
  if (shared == shared_.end()) {
    addresses_.give(address, align_up(size, kFrameBytes));
    return true;
  }
  shared->second.free.give(address - shared->first, align_up(size, kAlignment));
  if (shared->second.free.all_free()) {
    addresses_.give(shared->first, kFrameBytes);
    shared_.erase(shared);
  }
  return true;
}

void Allocations::free_all_of(std::uint64_t context) {
  std::vector<std::uint64_t> starts;
  for (const auto& [start, mapping] : pages_.mappings()) {
    if (mapping.is_plain() && mapping.context == context) starts.push_back(start);
  }
  for (std::uint64_t start : starts) static_cast<void>(free(start));
}

}  // namespace ferry::sim
