// SPDX-License-Identifier: Apache-2.0
#include "transfer/copy_plan.hpp"

#include <algorithm>

namespace ferry {

namespace {

// One side of a run that grows.
class Side {
 public:
  explicit Side(const MemoryRange& range) : range_(range) {}

  // Whether a copy may go on into [at, +bytes), where it has come to and where `next` lies. On a
  // device, not beyond the allocation: the driver takes no copy across two. On the host, pageable
  // memory is apart from the rest, because it is read and written in no stream's order.
  Result<bool> may_go_on(std::uint64_t at, std::uint64_t bytes, const MemoryRange& next,
                         const DescribeMemory& describe) {
    const bool is_inside = range_.kind != MemoryKind::pageable && at + bytes <= range_.end;
    if (is_inside || range_.kind == MemoryKind::device) return is_inside;
    if (range_.kind == MemoryKind::pinned && at > range_.end) {
      const Result<MemoryRange> last = describe(at - 1);
      if (!last) return last.error();
      range_ = *last;
    }
    if (next.kind != range_.kind) return false;
    range_ = next;
    return true;
  }

 private:
  MemoryRange range_;
};

class Run {
 public:
  Run(const CopyRequest& first, const Sides& sides)
      : copy_(first), start_(sides), to_(sides.to), from_(sides.from) {}
  [[nodiscard]] const CopyRequest& copy() const { return copy_; }
  [[nodiscard]] const Sides& start() const { return start_; }

  // Whether the request, which begins at `sides`, has become part of it.
  Result<bool> take(const CopyRequest& next, const Sides& sides, const DescribeMemory& describe) {
    const std::uint64_t bytes = copy_.bytes.count;
    if (copy_.destination + bytes != next.destination || copy_.source + bytes != next.source)
      return false;
    const Result<bool> to = to_.may_go_on(next.destination, next.bytes.count, sides.to, describe);
    if (!to || !*to) return to;
    const Result<bool> from = from_.may_go_on(next.source, next.bytes.count, sides.from, describe);
    if (from && *from) copy_.bytes += next.bytes;
    return from;
  }

 private:
  CopyRequest copy_;
  Sides start_;
  Side to_;
  Side from_;
};

Result<std::vector<Run>, Failure> merge_runs(const std::vector<PlacedRequest>& ordered,
                                             const DescribeMemory& describe, CopyPlan& plan) {
  std::vector<Run> runs;
  Surroundings to(describe);
  Surroundings from(describe);
  for (const PlacedRequest& next : ordered) {
    const Result<Sides, Failure> sides = look_at(next, to, from);
    if (!sides) return sides.error();
    const Result<bool> joined =
        runs.empty() ? false : runs.back().take(next.request, *sides, describe);
    if (!joined) return joined.error();
    if (*joined) {
      ++plan.merged;
    } else {
      runs.emplace_back(next.request, *sides);
    }
  }
  return runs;
}

// How far a copy may go from `address` on: to the end of a host registration, else as far as asked.
std::uint64_t reach(const MemoryRange& range, std::uint64_t address, std::uint64_t wanted) {
  return range.kind == MemoryKind::pinned ? std::min(wanted, range.end - address) : wanted;
}

Fragment first_fragment(const CopyRequest& run, const Sides& sides) {
  Fragment fragment{run.destination, run.source, run.bytes, Direction::on_device, false};
  if (sides.to.kind != MemoryKind::device) fragment.direction = Direction::to_host;
  if (sides.from.kind != MemoryKind::device) fragment.direction = Direction::to_device;
  fragment.staged =
      sides.to.kind == MemoryKind::pageable || sides.from.kind == MemoryKind::pageable;
  fragment.bytes.count = std::min(reach(sides.to, run.destination, run.bytes.count),
                                  reach(sides.from, run.source, run.bytes.count));
  return fragment;
}

Status cut(const Run& merged, const DescribeMemory& describe, std::vector<Fragment>& fragments) {
  CopyRequest rest = merged.copy();
  Sides sides = merged.start();
  for (;;) {
    const Fragment fragment = first_fragment(rest, sides);
    fragments.push_back(fragment);
    rest.destination += fragment.bytes.count;
    rest.source += fragment.bytes.count;
    rest.bytes -= fragment.bytes;
    if (rest.bytes.count == 0) return {};
    const Result<MemoryRange> to = describe(rest.destination);
    if (!to) return to.error();
    const Result<MemoryRange> from = describe(rest.source);
    if (!from) return from.error();
    sides = {*to, *from};
  }
}

}  // namespace

Result<CopyPlan, Failure> plan_copies(std::span<const CopyRequest> requests,
                                      const DescribeMemory& describe) {
  CopyPlan plan;
  const Result<std::vector<PlacedRequest>, Failure> ordered = by_destination(requests);
  if (!ordered) return ordered.error();
  plan.dropped = requests.size() - ordered->size();
  const Result<std::vector<Run>, Failure> runs = merge_runs(*ordered, describe, plan);
  if (!runs) return runs.error();
  for (const Run& merged : *runs) FERRY_TRY(cut(merged, describe, plan.fragments));
  return plan;
}

}  // namespace ferry
