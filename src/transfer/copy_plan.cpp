// SPDX-License-Identifier: Apache-2.0
#include "transfer/copy_plan.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

namespace ferry {

namespace {

Status check(const CopyRequest& request) {
  const std::uint64_t bytes = request.bytes.count;
  if (bytes > 0 && request.destination == 0)
    return Status(Code::invalid_argument, "the destination of a copy is NULL");
  if (bytes > 0 && request.source == 0)
    return Status(Code::invalid_argument, "the source of a copy is NULL");
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

// One side of a run that grows.
class Side {
 public:
  explicit Side(const MemoryRange& range) : range_(range) {}

  // Whether a copy may go on into [at, +bytes), where it has come to. On a device, not beyond the
  // allocation: the driver takes no copy across two. On the host, pageable memory is apart from
  // the rest, because it is read and written in no stream's order.
  Result<bool> may_go_on(std::uint64_t at, std::uint64_t bytes, const DescribeMemory& describe) {
    const bool is_inside = range_.kind != MemoryKind::pageable && at + bytes <= range_.end;
    if (is_inside || range_.kind == MemoryKind::device) return is_inside;
    const Result<MemoryRange> next = describe(at);
    if (!next) return next.error();
    if (range_.kind == MemoryKind::pinned && at > range_.end) {
      const Result<MemoryRange> last = describe(at - 1);
      if (!last) return last.error();
      range_ = *last;
    }
    if (next->kind != range_.kind) return false;
    range_ = *next;
    return true;
  }

 private:
  MemoryRange range_;
};

class Run {
 public:
  explicit Run(const CopyRequest& first) : copy_(first) {}
  [[nodiscard]] const CopyRequest& copy() const { return copy_; }

  // Whether the request has become part of it.
  Result<bool> take(const CopyRequest& next, const DescribeMemory& describe) {
    const std::uint64_t bytes = copy_.bytes.count;
    if (copy_.destination + bytes != next.destination || copy_.source + bytes != next.source)
      return false;
    FERRY_TRY(look(describe));
    const Result<bool> to = to_->may_go_on(next.destination, next.bytes.count, describe);
    if (!to || !*to) return to;
    const Result<bool> from = from_->may_go_on(next.source, next.bytes.count, describe);
    if (from && *from) copy_.bytes += next.bytes;
    return from;
  }

 private:
  // The driver is asked about a run only once there is something to join.
  Status look(const DescribeMemory& describe) {
    if (to_) return {};
    const Result<MemoryRange> to = describe(copy_.destination);
    if (!to) return to.error();
    const Result<MemoryRange> from = describe(copy_.source);
    if (!from) return from.error();
    to_.emplace(*to);
    from_.emplace(*from);
    return {};
  }

  CopyRequest copy_;
  std::optional<Side> to_;
  std::optional<Side> from_;
};

Result<std::vector<Run>> merge_runs(const std::vector<CopyRequest>& ordered,
                                    const DescribeMemory& describe, CopyPlan& plan) {
  std::vector<Run> runs;
  for (const CopyRequest& next : ordered) {
    const Result<bool> joined = runs.empty() ? false : runs.back().take(next, describe);
    if (!joined) return joined.error();
    if (*joined) {
      ++plan.merged;
    } else {
      runs.emplace_back(next);
    }
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
    return Status(Code::invalid_argument, "neither side of a copy is memory of a device");
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
  const Result<std::vector<Run>> runs = merge_runs(*ordered, describe, plan);
  if (!runs) return runs.error();
  for (const Run& merged : *runs) {
    CopyRequest run = merged.copy();
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
