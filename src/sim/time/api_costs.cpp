// SPDX-License-Identifier: Apache-2.0
#include "sim/time/api_costs.hpp"

#include <array>
#include <string_view>

namespace ferry::sim {

namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

struct NamedPrice {
  std::string_view name;  // the base name, or its beginning where it ends with '*'
  Price price;
};

// The first that fits. cuStreamQuery and cuEventQuery are the polls; a wait's length is not its
// price.
constexpr NamedPrice kPrices[] = {
    {"cuMemAlloc", {&Profile::alloc, &Profile::alloc_mib, &Footprint::device_bytes, kMebibyte}},
    {"cuMemAllocPitch",
     {&Profile::alloc, &Profile::alloc_mib, &Footprint::device_bytes, kMebibyte}},
    {"cuMemAllocManaged",
     {&Profile::alloc, &Profile::alloc_mib, &Footprint::device_bytes, kMebibyte}},
    {"cuMemFree", {&Profile::free}},
    {"cuMemAllocAsync", {&Profile::pool_alloc}},
    {"cuMemAllocFromPoolAsync", {&Profile::pool_alloc}},
    {"cuMemFreeAsync", {&Profile::pool_free}},
    {"cuMemGetInfo", {&Profile::memory_info}},
    {"cuMemAddressReserve", {&Profile::reserve}},
    {"cuMemAddressFree", {&Profile::unreserve}},
    {"cuMemCreate", {&Profile::create, &Profile::create_mib, &Footprint::device_bytes, kMebibyte}},
    {"cuMemRelease", {&Profile::release}},
    {"cuMemMap", {&Profile::map}},
    {"cuMemSetAccess",
     {&Profile::set_access, &Profile::set_access_each, &Footprint::access_changes}},
    {"cuMemUnmap", {&Profile::unmap, &Profile::unmap_each, &Footprint::mappings}},
    {"cuMemHostAlloc",
     {&Profile::host_alloc, &Profile::host_alloc_mib, &Footprint::host_bytes, kMebibyte}},
    {"cuMemAllocHost",
     {&Profile::host_alloc, &Profile::host_alloc_mib, &Footprint::host_bytes, kMebibyte}},
    {"cuMemFreeHost",
     {&Profile::host_free, &Profile::host_free_mib, &Footprint::host_bytes, kMebibyte}},
    {"cuMemHostRegister",
     {&Profile::host_register, &Profile::host_register_mib, &Footprint::host_bytes, kMebibyte}},
    {"cuMemHostUnregister",
     {&Profile::host_unregister, &Profile::host_unregister_mib, &Footprint::host_bytes, kMebibyte}},
    {"cuMemcpyBatchAsync", {&Profile::batch}},
    {"cuMemcpy3DBatchAsync", {&Profile::batch}},
    {"cuMemcpy*", {&Profile::copy}},
    {"cuMemset*", {&Profile::fill}},
    {"cuLaunch*", {&Profile::launch}},
    {"cuGraphLaunch", {&Profile::launch}},
    {"cuCtxSynchronize", {&Profile::synchronize}},
    {"cuStreamSynchronize", {&Profile::synchronize}},
    {"cuEventSynchronize", {&Profile::synchronize}},
    {"cuStreamQuery", {&Profile::query}},
    {"cuEventQuery", {&Profile::query}},
    {"cuEventRecord", {&Profile::event_record}},
    {"cuEventRecordWithFlags", {&Profile::event_record}},
    {"cuCtxRecordEvent", {&Profile::event_record}},
    {"cuStreamWaitEvent", {&Profile::stream_wait}},
    {"cuCtxWaitEvent", {&Profile::stream_wait}},
};

constexpr bool fits(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with('*')) return name == pattern;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

// By symbol: looked up at each call.
constexpr auto kBySymbol = [] {
  std::array<Price, kSymbols.size()> prices{};
  for (std::size_t i = 0; i < kSymbols.size(); ++i) {
    for (const NamedPrice& row : kPrices) {
      if (!fits(kSymbols[i].name, row.name)) continue;
      prices[i] = row.price;
      break;
    }
  }
  return prices;
}();

}  // namespace

const Price& price_of(Symbol symbol) {
  return kBySymbol[static_cast<std::size_t>(symbol)];
}

Picoseconds growing_cost(const Profile& profile, const Price& price, const Footprint& before,
                         const Footprint& after) {
  if (price.each == nullptr) return 0;
  const std::uint64_t first = before.*price.counter;
  const std::uint64_t second = after.*price.counter;
  const std::uint64_t change = second > first ? second - first : first - second;
  const auto each = static_cast<std::uint64_t>((profile.*price.each).value);
  return static_cast<Picoseconds>(Work{change} * each / price.unit);
}

}  // namespace ferry::sim
