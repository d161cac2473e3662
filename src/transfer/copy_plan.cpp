// SPDX-License-Identifier: Apache-2.0
#include "transfer/copy_plan.hpp"

#include <algorithm>
#include <tuple>

namespace ferry {

namespace {

Status check(const CopyRequest& request) {
  const std::uint64_t bytes = request.bytes.count;
  if (request.destination + bytes < request.destination || request.source + bytes < request.source)
    return Status(Code::invalid_argument, "a copy runs past the last address");
  return {};
}

// By destination, without duplicates and empty requests.
Result<std::vector<CopyRequest>> in_order(std::span<const CopyRequest> requests, CopyPlan& plan) {
  std::vector<CopyRequest> ordered;
  for (const CopyRequest& request : requests) {
    FERRY_TRY(check(request));
    if (request.bytes.count > 0) ordered.push_back(request);
  }
  const auto key = [](const CopyRequest& request) {
    return std::tuple(request.destination, request.bytes.count, request.source);
  };
  std::sort(ordered.begin(), ordered.end(),
            [&](const CopyRequest& a, const CopyRequest& b) { return key(a) < key(b); });
  const auto last =
      std::unique(ordered.begin(), ordered.end(),
                  [&](const CopyRequest& a, const CopyRequest& b) { return key(a) == key(b); });
  ordered.erase(last, ordered.end());
  plan.dropped = requests.size() - ordered.size();
  for (std::size_t i = 1; i < ordered.size(); ++i) {
    if (ordered[i].destination < ordered[i - 1].destination + ordered[i - 1].bytes.count)
      return Status(Code::invalid_argument, "two copies of a batch write the same bytes");
  }
  return ordered;
}

std::vector<CopyRequest> merge_runs(const std::vector<CopyRequest>& ordered, CopyPlan& plan) {
  std::vector<CopyRequest> runs;
  for (const CopyRequest& next : ordered) {
    if (!runs.empty()) {
      CopyRequest& run = runs.back();
      if (run.destination + run.bytes.count == next.destination &&
          run.source + run.bytes.count == next.source) {
        run.bytes += next.bytes;
        ++plan.merged;
        continue;
      }
    }
    runs.push_back(next);
  }
  return runs;
}

// How far a copy may go from `address` on: to the end of a host registration, else as far as asked.
std::uint64_t reach(const MemoryRange& range, std::uint64_t address, std::uint64_t wanted) {
  return range.kind == MemoryKind::pinned ? std::min(wanted, range.end - address) : wanted;
}

Result<Fragment> first_fragment(const CopyRequest& run, const DescribeMemory& describe) {
  const Result<MemoryRange> to = describe(run.destination);
  if (!to) return to.error();
  const Result<MemoryRange> from = describe(run.source);
  if (!from) return from.error();
  const bool to_device = to->kind == MemoryKind::device;
  const bool from_device = from->kind == MemoryKind::device;
  if (!to_device && !from_device)
    return Status(Code::invalid_argument, "a copy between two places in host memory");
  Fragment fragment{run.destination, run.source, run.bytes, Direction::on_device, false};
  if (!to_device) fragment.direction = Direction::to_host;
  if (!from_device) fragment.direction = Direction::to_device;
  fragment.staged = to->kind == MemoryKind::pageable || from->kind == MemoryKind::pageable;
  fragment.bytes.count = std::min(reach(*to, run.destination, run.bytes.count),
                                  reach(*from, run.source, run.bytes.count));
  return fragment;
}

}  // namespace

Result<CopyPlan> plan_copies(std::span<const CopyRequest> requests,
                             const DescribeMemory& describe) {
  CopyPlan plan;
  const Result<std::vector<CopyRequest>> ordered = in_order(requests, plan);
  if (!ordered) return ordered.error();
  for (CopyRequest run : merge_runs(*ordered, plan)) {
    while (run.bytes.count > 0) {
      const Result<Fragment> fragment = first_fragment(run, describe);
      if (!fragment) return fragment.error();
      plan.fragments.push_back(*fragment);
      run.destination += fragment->bytes.count;
      run.source += fragment->bytes.count;
      run.bytes -= fragment->bytes;
    }
  }
  return plan;
}

}  // namespace ferry
