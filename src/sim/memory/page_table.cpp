// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/page_table.hpp"

namespace ferry::sim {

Mapping& PageTable::add(Mapping mapping) {
  mapping.buffer_id = next_buffer_id_++;
  const std::uint64_t start = mapping.start;
  return mappings_.emplace(start, std::move(mapping)).first->second;
}

Mapping* PageTable::find(std::uint64_t address) {
  auto found = mappings_.upper_bound(address);
  if (found == mappings_.begin()) return nullptr;
  --found;
  return address < found->second.end() ? &found->second : nullptr;
}

Mapping* PageTable::find_living(std::uint64_t address) {
  Mapping* const mapping = find(address);
  return mapping == nullptr || mapping->freed ? nullptr : mapping;
}

bool PageTable::any_in(std::uint64_t start, std::uint64_t size) {
  const auto next = mappings_.lower_bound(start);
  return find(start) != nullptr || (next != mappings_.end() && next->first - start < size);
}

PageTable::Run PageTable::whole_mappings(std::uint64_t start, std::uint64_t size) {
  const Run nothing{mappings_.end(), mappings_.end()};
  const auto first = mappings_.find(start);
  std::uint64_t covered = 0;
  for (auto last = first; last != mappings_.end(); ++last) {
    if (last->first != start + covered) return nothing;
    if (last->second.size > size - covered) return nothing;
    covered += last->second.size;
    if (covered == size) return {first, std::next(last)};
  }
  return nothing;
}

bool PageTable::allows(int device, Access access, std::uint64_t address, std::uint64_t bytes) {
  const auto needed = static_cast<unsigned>(access);
  while (bytes > 0) {
    const Mapping* const mapping = find(address);
    if (mapping == nullptr) return false;
    if ((static_cast<unsigned>(mapping->rights.of(device)) & needed) != needed) return false;
    const std::uint64_t step = std::min(bytes, mapping->end() - address);
    if (step < bytes && mapping->kind != Mapping::Kind::virtual_memory) return false;
    address += step;
    bytes -= step;
  }
  return true;
}

}  // namespace ferry::sim
