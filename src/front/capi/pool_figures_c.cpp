// SPDX-License-Identifier: Apache-2.0
// The C API of figures and maps of pools, for PyTorch's memory statistics and snapshots.
#include <algorithm>
#include <string>
#include <vector>

#include "ferry/pytorch.h"
#include "front/capi/c_errors.hpp"
#include "front/capi/known_struct.hpp"
#include "front/capi/pool_handles.hpp"

namespace {

using ferry::capi::guarded;
using ferry::capi::null_argument;
using ferry::capi::write_known;

ferry_figure to_c(const ferry::Figure& figure) {
  return ferry_figure{figure.now, figure.peak, figure.added, figure.removed};
}

void copy_split(const ferry::SplitFigure& split, ferry_figure* out) {
  for (std::size_t i = 0; i < split.of.size(); ++i) out[i] = to_c(split.of[i]);
}

ferry_device_block to_c(const ferry::PoolBlock& block) {
  static_assert(static_cast<int>(ferry::PoolBlockState::live) == FERRY_BLOCK_LIVE);
  static_assert(static_cast<int>(ferry::PoolBlockState::fenced) == FERRY_BLOCK_FENCED);
  static_assert(static_cast<int>(ferry::PoolBlockState::idle) == FERRY_BLOCK_IDLE);
  return ferry_device_block{
      .address = reinterpret_cast<void*>(block.address.value),
      .bytes = block.size.count,
      .requested = block.requested.count,
      .segment = reinterpret_cast<void*>(block.segment.value),
      .segment_bytes = block.segment_size.count,
      .stream = block.stream.native(),
      .state = static_cast<int32_t>(block.state),
      .small = block.slabs ? 1 : 0,
      .private_pool = block.private_pool,
  };
}

std::string unsized(const char* function) {
  return std::string(function) + ": struct_size is not set; set it to the struct's size";
}

}  // namespace

ferry_status ferry_device_pool_figures(ferry_device_pool* pool,
                                       ferry_device_pool_figures_t* figures) {
  constexpr const char* kName = "ferry_device_pool_figures";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    if (figures == nullptr) return null_argument(kName, "figures");
    const ferry::PoolFigures now = pool->pool->figures();
    ferry_device_pool_figures_t out{};
    copy_split(now.allocations, out.allocations);
    copy_split(now.allocated_bytes, out.allocated_bytes);
    copy_split(now.requested_bytes, out.requested_bytes);
    copy_split(now.active, out.active);
    copy_split(now.active_bytes, out.active_bytes);
    out.chunks = to_c(now.chunks);
    out.reserved_bytes = to_c(now.reserved_bytes);
    return write_known(out, figures, unsized(kName));
  });
}

ferry_status ferry_device_pool_reset_peaks(ferry_device_pool* pool) {
  constexpr const char* kName = "ferry_device_pool_reset_peaks";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    pool->pool->reset_peaks();
    return FERRY_OK;
  });
}

ferry_status ferry_device_pool_reset_totals(ferry_device_pool* pool) {
  constexpr const char* kName = "ferry_device_pool_reset_totals";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    pool->pool->reset_totals();
    return FERRY_OK;
  });
}

ferry_status ferry_device_pool_blocks(ferry_device_pool* pool, ferry_device_block* blocks,
                                      size_t* count) {
  constexpr const char* kName = "ferry_device_pool_blocks";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    if (count == nullptr) return null_argument(kName, "count");
    if (blocks == nullptr && *count != 0) return null_argument(kName, "blocks");
    const std::vector<ferry::PoolBlock> all = pool->pool->blocks();
    for (std::size_t i = 0; i < std::min(*count, all.size()); ++i) blocks[i] = to_c(all[i]);
    *count = all.size();
    return FERRY_OK;
  });
}

ferry_status ferry_pinned_pool_stats(ferry_pinned_pool* pool, ferry_pinned_pool_stats_t* stats) {
  constexpr const char* kName = "ferry_pinned_pool_stats";
  return guarded(kName, [&]() -> ferry_status {
    if (pool == nullptr) return null_argument(kName, "pool");
    if (stats == nullptr) return null_argument(kName, "stats");
    const ferry::PinnedPoolStats now = pool->pool->stats();
    const ferry_pinned_pool_stats_t out{
        .struct_size = 0,
        .allocated_bytes = now.allocated_bytes.count,
        .requested_bytes = now.requested_bytes.count,
        .reserved_bytes = now.reserved_bytes.count,
        .reserved_bytes_peak = now.reserved_bytes_peak.count,
        .fenced_bytes = now.fenced_bytes.count,
        .allocations = now.allocations,
        .blocks_made = now.blocks_made,
        .blocks_reused = now.blocks_reused,
    };
    return write_known(out, stats, unsized(kName));
  });
}
