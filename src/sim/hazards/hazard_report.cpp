// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/hazard_report.hpp"

#include <cuda.h>
#include <fmt/format.h>

#include "sim/words/call_site.hpp"

namespace ferry::sim {

namespace {

std::string stream_name(std::uint64_t handle) {
  if (handle == 0 || handle == reinterpret_cast<std::uintptr_t>(CU_STREAM_LEGACY))
    return "the legacy default stream";
  if (handle == reinterpret_cast<std::uintptr_t>(CU_STREAM_PER_THREAD))
    return "the per-thread default stream";
  return fmt::format("stream {:#x}", handle);
}

std::string operation_name(const Toucher& toucher) {
  const std::string member =
      toucher.member == kNoMember ? "" : fmt::format(", member {}", toucher.member);
  const std::string_view name = toucher.part_of == nullptr
                                    ? row_of(toucher.symbol).name
                                    : std::string_view(toucher.part_of->name);
  return fmt::format("{} (operation {}{}{}) on {}", name, toucher.operation, member,
                     toucher.launch == 0 ? "" : ", a node of a graph", stream_name(toucher.stream));
}

std::string_view verb(AccessKind kind) {
  return kind == AccessKind::write ? "writes" : "reads";
}

std::string memory_name(const MemoryPlace& place) {
  const std::string range =
      fmt::format("[{:#x}, {:#x}), {} bytes", place.start, place.start + place.bytes, place.bytes);
  if (place.device < 0) return "host memory " + range;
  const std::string variable =
      place.variable.empty() ? "" : fmt::format(", the variable {} of a module", place.variable);
  return fmt::format("{} at offset {} of the {} bytes at {:#x} on device {}{}", range,
                     place.start - place.owner, place.owner_bytes, place.owner, place.device,
                     variable);
}

// Where the earlier one used other addresses for the same bytes: which.
std::string alias_name(const Toucher& earlier, const Toucher& later, const MemoryPlace& place) {
  if (earlier.base == later.base) return "";
  const std::uint64_t start = place.start + (earlier.base - later.base);
  return fmt::format(
      "  alias:   of [{:#x}, {:#x}), which the earlier one uses: both addresses are mapped to the "
      "same physical memory\n",
      start, start + place.bytes);
}

// A line under what it belongs to; nothing where the place is not known.
std::string called_from(const void* site) {
  return site == nullptr ? "" : fmt::format("           from {}\n", describe_call_site(site));
}

// A line of a framework's program in place of the one that called the driver.
std::string called_from(const FrameworkOperator& operation) {
  return operation.place.empty() ? "" : fmt::format("           from {}\n", operation.place);
}

std::string asked_for_at(const Toucher& toucher) {
  return toucher.part_of == nullptr ? called_from(toucher.site) : called_from(*toucher.part_of);
}

std::string launched_from(const Toucher& node) {
  if (node.launch_site == nullptr) return "";
  return fmt::format("           launched from {}\n", describe_call_site(node.launch_site));
}

// Where the program called for an operation.
std::string asked_from(const Toucher& toucher) {
  return asked_for_at(toucher) + launched_from(toucher);
}

std::string ended_from(const Ending& ending) {
  if (ending.site == nullptr) return "";
  return fmt::format("  ended:   by {}\n{}", row_of(ending.symbol).name, called_from(ending.site));
}

std::string queued_from(const Toucher& copy) {
  if (copy.site == nullptr) return "";
  return fmt::format("  copy:    {} {} it\n{}", operation_name(copy), verb(copy.kind),
                     asked_from(copy));
}

std::string wait_for_end(const Toucher& copy) {
  return fmt::format("synchronise {}, or wait for an event recorded after operation {}",
                     stream_name(copy.stream), copy.operation);
}

std::string_view kind_of(AccessKind earlier, AccessKind later) {
  if (earlier == AccessKind::read) return "write after read";
  return later == AccessKind::read ? "read after write" : "write after write";
}

bool is_legacy(const Toucher& toucher) {
  return stream_name(toucher.stream) == "the legacy default stream";
}

// Why nothing orders the two, and what would.
std::string remedy(const Toucher& earlier, const Toucher& later) {
  if (is_same_operation(earlier, later))
    return "members of one batch run in any order: put the two into two batches.";
  if (is_of_one_launch(earlier, later)) {
    return "nodes of one graph run in any order that its edges allow: add an edge between the two, "
           "or, where the graph was captured, an event between their streams.";
  }
  std::string text;
  if (earlier.outlasts_call)
    text = "a plain copy from pageable memory may return before its bytes have arrived; ";
  if (is_legacy(earlier) != is_legacy(later))
    text += "a stream made with CU_STREAM_NON_BLOCKING is not ordered with the default stream; ";
  const bool by_framework = earlier.part_of != nullptr || later.part_of != nullptr;
  if (by_framework) {
    return text + fmt::format(
                      "let {} wait for {} after operation {} and before operation {} (wait_stream, "
                      "or an event's record and wait), or synchronise with the host in between.",
                      stream_name(later.stream), stream_name(earlier.stream), earlier.operation,
                      later.operation);
  }
  return text + fmt::format(
                    "record an event on {} after operation {} and let {} wait for it before "
                    "operation {}, or synchronise with the host in between.",
                    stream_name(earlier.stream), earlier.operation, stream_name(later.stream),
                    later.operation);
}

}  // namespace

std::string describe_collision(const Toucher& earlier, const Toucher& later,
                               const MemoryPlace& place) {
  return fmt::format(
      "hazard: {} without order: {} and {}\n"
      "  memory:  {}\n{}"
      "  earlier: {} {} it\n{}"
      "  later:   {} {} it\n{}"
      "  remedy:  {}\n",
      kind_of(earlier.kind, later.kind), operation_name(earlier), operation_name(later),
      memory_name(place), alias_name(earlier, later, place), operation_name(earlier),
      verb(earlier.kind),
      is_of_one_launch(earlier, later) ? asked_for_at(earlier) : asked_from(earlier),
      operation_name(later), verb(later.kind), asked_from(later), remedy(earlier, later));
}

std::string describe_early_end(const Toucher& user, const Ending& ending,
                               const MemoryPlace& place) {
  return fmt::format(
      "hazard: {} while {} may still use the memory\n"
      "  memory:  {}\n"
      "  in use:  {} {} it\n{}"
      "{}"
      "  remedy:  wait for operation {} first: synchronise {}, or an event recorded after it.\n",
      row_of(ending.symbol).name, operation_name(user), memory_name(place), operation_name(user),
      verb(user.kind), asked_from(user), ended_from(ending), user.operation,
      stream_name(user.stream));
}

std::string describe_early_release(const Toucher& user, const StorageEnd& end,
                                   const MemoryPlace& place) {
  const std::string stream = stream_name(end.stream);
  return fmt::format(
      "hazard: a tensor's memory is given back while {} may still use it\n"
      "  memory:  {}\n"
      "  in use:  {} {} it\n{}"
      "  ended:   for reuse on {}\n{}"
      "  remedy:  call record_stream on the tensor for {}, or let {} wait for operation {} "
      "(wait_stream, wait_event) before the tensor goes.\n",
      operation_name(user), memory_name(place), operation_name(user), verb(user.kind),
      asked_from(user), stream, called_from(*end.at), stream_name(user.stream), stream,
      user.operation);
}

std::string describe_use_after_free(const Toucher& user, const MemoryPlace& place) {
  return fmt::format(
      "hazard: {} uses memory that was freed before\n"
      "  memory:  {}\n"
      "  in use:  {} {} it\n{}"
      "  remedy:  free the memory after the call that queues operation {}, on a stream that is "
      "ordered after it.\n",
      operation_name(user), memory_name(place), operation_name(user), verb(user.kind),
      asked_from(user), user.operation);
}

std::string describe_changed_memory(const Toucher& copy, const MemoryPlace& place) {
  const std::string_view side = copy.kind == AccessKind::read ? "source" : "destination";
  return fmt::format(
      "hazard: the host changed the {} of {} before it ran\n"
      "  memory:  {}\n"
      "{}"
      "  remedy:  leave the {} alone until the copy has ended: {}.\n",
      side, operation_name(copy), memory_name(place), queued_from(copy), side, wait_for_end(copy));
}

std::string describe_gone_memory(const Toucher& copy, const MemoryPlace& place) {
  return fmt::format(
      "hazard: the host gave memory of {} back to the system before it ran\n"
      "  memory:  {}\n"
      "{}"
      "  remedy:  free or unmap the memory after the copy has ended: {}.\n",
      operation_name(copy), memory_name(place), queued_from(copy), wait_for_end(copy));
}

}  // namespace ferry::sim
