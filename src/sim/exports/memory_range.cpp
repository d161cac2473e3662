// SPDX-License-Identifier: Apache-2.0
// Exported: what was said of ranges of managed memory.
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "sim/machine/library.hpp"

namespace ferry::sim {

namespace {

// What is true of all of a range.
struct Summary {
  bool read_mostly = true;
  std::set<int> accessed_by;
  std::optional<CUmemLocation> preferred;
  std::optional<CUmemLocation> prefetched;
};

// Of the type INVALID where the two differ.
void join(std::optional<CUmemLocation>& all, const CUmemLocation& one) {
  if (!all) {
    all = one;
  } else if (all->type != one.type || all->id != one.id) {
    all = CUmemLocation{};
  }
}

Summary summary_of(Machine& machine, std::uint64_t start, std::uint64_t bytes) {
  Summary all;
  bool is_first = true;
  machine.host.advice().visit(start, bytes, [&](const Advice& advice) {
    all.read_mostly &= advice.read_mostly;
    join(all.preferred, advice.preferred);
    join(all.prefetched, advice.prefetched);
    if (std::exchange(is_first, false)) all.accessed_by = advice.accessed_by;
    std::erase_if(all.accessed_by, [&](int one) { return !advice.accessed_by.contains(one); });
  });
  return all;
}

int as_device(const std::optional<CUmemLocation>& location) {
  if (!location || location->type == CU_MEM_LOCATION_TYPE_INVALID) return CU_DEVICE_INVALID;
  return location->type == CU_MEM_LOCATION_TYPE_DEVICE ? location->id : int{CU_DEVICE_CPU};
}

CUresult give_accessors(const std::set<int>& accessors, void* data, std::size_t bytes) {
  if (bytes == 0 || bytes % sizeof(int) != 0) return CUDA_ERROR_INVALID_VALUE;
  int* out = static_cast<int*>(data);
  int* const end = out + bytes / sizeof(int);
  for (auto one = accessors.begin(); one != accessors.end() && out != end; ++one) *out++ = *one;
  while (out != end) *out++ = CU_DEVICE_INVALID;
  return CUDA_SUCCESS;
}

std::optional<int> word_of(const Summary& all, CUmem_range_attribute attribute) {
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      return all.read_mostly ? 1 : 0;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      return as_device(all.preferred);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      return as_device(all.prefetched);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      return all.preferred->type;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      return all.preferred->id;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      return all.prefetched->type;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      return all.prefetched->id;
    default:
      return std::nullopt;
  }
}

CUresult give(const Summary& all, CUmem_range_attribute attribute, void* data, std::size_t bytes) {
  if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY)
    return give_accessors(all.accessed_by, data, bytes);
  const std::optional<int> word = word_of(all, attribute);
  if (!word || bytes != sizeof(int)) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(data, &*word, sizeof(int));
  return CUDA_SUCCESS;
}

// Runs body(Summary) where all of the range is managed memory.
template <typename Body>
CUresult with_range(Symbol symbol, CUdeviceptr start, std::size_t bytes, Body&& body) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    if (bytes == 0 || !call.machine.host.is_managed(start, bytes)) return CUDA_ERROR_INVALID_VALUE;
    return body(summary_of(call.machine, start, bytes));
  });
}

}  // namespace

}  // namespace ferry::sim

using ferry::sim::give;
using ferry::sim::Summary;
using ferry::sim::Symbol;
using ferry::sim::with_range;

CUresult cuMemRangeGetAttribute(void* data, size_t dataSize, CUmem_range_attribute attribute,
                                CUdeviceptr devPtr, size_t count) {
  return with_range(Symbol::cuMemRangeGetAttribute, devPtr, count,
                    [&](const Summary& all) { return give(all, attribute, data, dataSize); });
}

CUresult cuMemRangeGetAttributes(void** data, size_t* dataSizes, CUmem_range_attribute* attributes,
                                 size_t numAttributes, CUdeviceptr devPtr, size_t count) {
  return with_range(Symbol::cuMemRangeGetAttributes, devPtr, count, [&](const Summary& all) {
    if (data == nullptr || dataSizes == nullptr || attributes == nullptr || numAttributes == 0)
      return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < numAttributes; ++i) {
      const CUresult result = give(all, attributes[i], data[i], dataSizes[i]);
      if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
  });
}
