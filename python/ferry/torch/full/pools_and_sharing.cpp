// SPDX-License-Identifier: Apache-2.0
// What the pool does not have yet, each refused by its name, and what belongs to it.
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <utility>

#include "allocator.hpp"

namespace ferry_torch {

namespace {

[[noreturn]] void refuse(const char* what, const char* instead) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "Ferry does not support ", what, " yet. ", instead);
}

constexpr const char* kNoIpc = "sharing CUDA memory with other processes";
constexpr const char* kNative = "Run the program without backend:ferry for that.";

}  // namespace

// Torch asks for both from the constructor of a pool that it has retained already.
void Allocator::setUseOnOOM(c10::DeviceIndex index, c10::MempoolId_t pool, bool use_on_oom) {
  if (!use_on_oom) return;
  device(index).release_pool(pool);
  refuse("torch.cuda.MemPool(use_on_oom=True)", kNative);
}

void Allocator::setNoSplit(c10::DeviceIndex index, c10::MempoolId_t pool) {
  device(index).release_pool(pool);
  refuse("torch.cuda.MemPool(no_split=True)", kNative);
}

std::shared_ptr<cca::AllocatorState> Allocator::getCheckpointState(c10::DeviceIndex,
                                                                   c10::MempoolId_t) {
  refuse("checkpoints of pools (CUDA graph trees)", kNative);
}

cca::CheckpointDelta Allocator::setCheckpointPoolState(c10::DeviceIndex,
                                                       std::shared_ptr<cca::AllocatorState>) {
  refuse("checkpoints of pools (CUDA graph trees)", kNative);
}

cca::ShareableHandle Allocator::shareIpcHandle(void*) {
  refuse(kNoIpc, "Move the tensor to the CPU first.");
}

std::shared_ptr<void> Allocator::getIpcDevPtr(std::string) {
  refuse(kNoIpc, "Move the tensor to the CPU first.");
}

void* Allocator::getBaseAllocation(void*, size_t*) {
  refuse(kNoIpc, "Move the tensor to the CPU first.");
}

// `index` gets access to `peer`'s memory: the pool's, and what else lies there.
void Allocator::enablePeerAccess(c10::DeviceIndex index, c10::DeviceIndex peer) {
  const c10::cuda::CUDAGuard guard(index);
  const cudaError_t enabled = cudaDeviceEnablePeerAccess(peer, 0);
  if (enabled == cudaErrorPeerAccessAlreadyEnabled) {
    static_cast<void>(cudaGetLastError());
  } else {
    C10_CUDA_CHECK(enabled);
  }
  device(peer).open_to(index);
}

std::vector<cca::StreamSegmentSize> Allocator::getExpandableSegmentSizes(c10::DeviceIndex) {
  refuse("questions for torch's expandable segments",
         "Ferry has none; torch.cuda.memory_snapshot() shows its memory.");
}

void Allocator::enable(bool value) {
  if (!value) refuse("allocating without keeping memory", kNative);
}

// Of a private pool: its destructor asks, after it has been released; its memory is common then.
void Allocator::emptyCache(c10::MempoolId_t /*pool*/) {
  for (const auto& each : devices_) each->empty_cache();
}

cca::SnapshotInfo Allocator::snapshot(c10::MempoolId_t pool, bool include_traces) {
  using Config = cca::CUDAAllocatorConfig;
  using Common = c10::CachingAllocator::AcceleratorAllocatorConfig;
  cca::SnapshotInfo info;
  for (const auto& each : devices_) {
    for (SegmentInfo& segment : each->segments()) {
      if (pool == c10::MempoolId_t{0, 0} || pool == segment.owner_private_pool_id)
        info.segments.push_back(std::move(segment));
    }
    info.device_traces.push_back(include_traces ? each->history().entries()
                                                : std::vector<TraceEntry>{});
    each->history().add(TraceEntry::SNAPSHOT, each->index(), nullptr, 0, nullptr, nullptr);
  }
  // What the program has set; Ferry obeys per_process_memory_fraction alone.
  info.config_metadata.garbage_collection_threshold = Common::garbage_collection_threshold();
  info.config_metadata.max_split_size = Common::max_split_size();
  info.config_metadata.pinned_num_register_threads = Config::pinned_num_register_threads();
  info.config_metadata.expandable_segments = Common::use_expandable_segments();
  info.config_metadata.release_lock_on_malloc = Config::release_lock_on_cudamalloc();
  info.config_metadata.pinned_use_host_register = Config::pinned_use_cuda_host_register();
  info.config_metadata.graph_capture_record_stream_reuse =
      Config::graph_capture_record_stream_reuse();
  info.config_metadata.last_allocator_settings = Common::last_allocator_settings();
  info.config_metadata.roundup_power2_divisions = Common::roundup_power2_divisions();
  info.config_metadata.max_round_threshold = Common::pinned_max_round_threshold();
  info.config_metadata.max_cached_size = Common::pinned_max_cached_size();
  return info;
}

}  // namespace ferry_torch
