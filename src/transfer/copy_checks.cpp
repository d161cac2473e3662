// SPDX-License-Identifier: Apache-2.0
#include "transfer/copy_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>

namespace ferry {

namespace {

Failure refusal(std::string words) {
  return {Status(Code::invalid_argument, ""), std::move(words)};
}

// "requests[2] writes 4096 bytes at 0x7f0000"
std::string told(const PlacedRequest& placed, bool writes) {
  const std::uint64_t address = writes ? placed.request.destination : placed.request.source;
  return fmt::format("requests[{}] {} {} bytes at {:#x}", placed.place, writes ? "writes" : "reads",
                     placed.request.bytes.count, address);
}

std::optional<Failure> check_addresses(const PlacedRequest& placed) {
  const auto& [destination, source, bytes] = placed.request;
  if (bytes.count == 0) return std::nullopt;
  for (const bool writes : {true, false}) {
    const std::uint64_t address = writes ? destination : source;
    if (address == 0) {
      return refusal(fmt::format("requests[{}], of {} bytes, has NULL as its {}", placed.place,
                                 bytes.count, writes ? "destination" : "source"));
    }
    if (address + bytes.count < address)
      return refusal(told(placed, writes) + ", which runs past the last address there is");
  }
  return std::nullopt;
}

// Whether there is memory of a device all along a side that begins in it.
std::optional<Failure> check_extent(const PlacedRequest& placed, bool writes,
                                    const MemoryRange& first, Surroundings& around) {
  const std::uint64_t start = writes ? placed.request.destination : placed.request.source;
  if (first.kind == MemoryKind::reserved) {
    return refusal(told(placed, writes) +
                   ", where addresses of a device are reserved but no memory is mapped");
  }
  if (first.kind != MemoryKind::device) return std::nullopt;
  const std::uint64_t end = start + placed.request.bytes.count;
  std::uint64_t reached = first.memory_end;
  while (reached < end) {
    const Result<MemoryRange> next = around.at(reached);
    if (!next) return Failure(next.error());
    if (next->kind != MemoryKind::device || next->memory_end <= reached) {
      return refusal(fmt::format("{}, but the device's memory there ends at {:#x}, after {} bytes",
                                 told(placed, writes), reached, reached - start));
    }
    reached = next->memory_end;
  }
  return std::nullopt;
}

std::uint64_t end_of_writes(const PlacedRequest& placed) {
  return placed.request.destination + placed.request.bytes.count;
}

// The copies of a batch are unordered, so that none may read what one of them writes. By
// destination, where nothing is written twice: then the ends of what is written ascend as well.
std::optional<Failure> check_readers(std::span<const PlacedRequest> ordered) {
  for (const PlacedRequest& reader : ordered) {
    const std::uint64_t start = reader.request.source;
    const std::uint64_t end = start + reader.request.bytes.count;
    if (end <= ordered.front().request.destination || start >= end_of_writes(ordered.back()))
      continue;  // most batches read one memory and write another
    const auto writer = std::ranges::partition_point(
        ordered, [&](const PlacedRequest& placed) { return end_of_writes(placed) <= start; });
    if (writer->request.destination >= end) continue;
    if (writer->place == reader.place) {
      return refusal(fmt::format("{} and reads them at {:#x}: its two sides overlap",
                                 told(reader, true), start));
    }
    return refusal(fmt::format(
        "{}, where {}: the copies of a batch are unordered, so make the later one in a batch of "
        "its own that comes after the ticket of the earlier",
        told(reader, false), told(*writer, true)));
  }
  return std::nullopt;
}

}  // namespace

Result<MemoryRange> Surroundings::at(std::uint64_t address) {
  if (from_ <= address && address < until_) return range_;
  const Result<MemoryRange> range = describe_(address);
  if (!range) return range;
  range_ = *range;
  from_ = address;
  until_ = address + 1;
  if (range_.kind == MemoryKind::device) until_ = range_.memory_end;
  if (range_.kind == MemoryKind::pinned) until_ = range_.end;
  return range_;
}

Result<std::vector<PlacedRequest>, Failure> by_destination(std::span<const CopyRequest> requests) {
  std::vector<PlacedRequest> ordered;
  ordered.reserve(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const PlacedRequest placed{requests[i], i};
    if (std::optional<Failure> refused = check_addresses(placed)) return *std::move(refused);
    if (requests[i].bytes.count > 0) ordered.push_back(placed);
  }
  const auto key = [](const PlacedRequest& placed) {
    const CopyRequest& request = placed.request;
    return std::tuple(request.destination, request.bytes.count, request.source);
  };
  const auto before = [&](const PlacedRequest& a, const PlacedRequest& b) {
    return std::tuple(key(a), a.place) < std::tuple(key(b), b.place);
  };
  // Most callers go through their memory from one end to the other.
  if (!std::ranges::is_sorted(ordered, before)) std::ranges::sort(ordered, before);
  const auto last =
      std::unique(ordered.begin(), ordered.end(),
                  [&](const PlacedRequest& a, const PlacedRequest& b) { return key(a) == key(b); });
  ordered.erase(last, ordered.end());
  for (std::size_t i = 1; i < ordered.size(); ++i) {
    const PlacedRequest& lower = ordered[i - 1];
    if (ordered[i].request.destination < lower.request.destination + lower.request.bytes.count) {
      return refusal(fmt::format("{} and {}: two requests of a batch write the same bytes",
                                 told(lower, true), told(ordered[i], true)));
    }
  }
  if (std::optional<Failure> refused = check_readers(ordered)) return *std::move(refused);
  return ordered;
}

Result<Sides, Failure> look_at(const PlacedRequest& placed, Surroundings& to, Surroundings& from) {
  const Result<MemoryRange> destination = to.at(placed.request.destination);
  if (!destination) return destination.error();
  const Result<MemoryRange> source = from.at(placed.request.source);
  if (!source) return source.error();
  const Sides sides{*destination, *source};
  if (std::optional<Failure> refused = check_extent(placed, true, sides.to, to))
    return *std::move(refused);
  if (std::optional<Failure> refused = check_extent(placed, false, sides.from, from))
    return *std::move(refused);
  if (sides.to.kind != MemoryKind::device && sides.from.kind != MemoryKind::device) {
    return refusal(fmt::format("{} and reads them at {:#x}, but neither is memory of a device",
                               told(placed, true), placed.request.source));
  }
  return sides;
}

}  // namespace ferry
