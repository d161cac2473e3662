// SPDX-License-Identifier: Apache-2.0
// Ferry as an allocator of torch's own kind. What Ferry does not have yet is refused by name; no
// answer is made up.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "device.hpp"

namespace ferry_torch {

namespace cca = c10::cuda::CUDACachingAllocator;

struct Settings {
  std::string driver;  // as ferry_options.driver; empty: FERRY_DRIVER
  uint64_t limit = 0;  // of each device's pool; 0: what the device gives
};

// A block that a program holds.
struct Held {
  int device = 0;
  void* stream = nullptr;  // that it was allocated on
  size_t bytes = 0;
  uint64_t private_pool = 0;  // Ferry's name of the private pool it came from; 0: none
};

// Live blocks by address, in shards, so that threads seldom meet.
class HeldBlocks {
 public:
  void add(void* pointer, const Held& held);
  [[nodiscard]] bool find(const void* pointer, Held& held);
  [[nodiscard]] bool take(const void* pointer, Held& held);

 private:
  struct alignas(64) Shard {
    std::mutex mutex;
    std::unordered_map<const void*, Held> blocks;
  };
  Shard& shard_of(const void* pointer) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    return shards_[((address >> 9) ^ (address >> 21)) % shards_.size()];
  }
  std::array<Shard, 32> shards_;
};

class Allocator final : public cca::CUDAAllocator {
 public:
  explicit Allocator(Settings settings) : settings_(std::move(settings)) {}

  // c10::Allocator
  c10::DataPtr allocate(size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* to, const void* from, std::size_t count) const override;

  // c10::DeviceAllocator
  bool initialized() override { return !devices_.empty(); }
  void emptyCache(c10::MempoolId_t pool) override;
  void recordStream(const c10::DataPtr& data, c10::cuda::CUDAStream stream) override;
  DeviceStats getDeviceStats(c10::DeviceIndex device) override;
  void resetAccumulatedStats(c10::DeviceIndex device) override;
  void resetPeakStats(c10::DeviceIndex device) override;

  // CUDAAllocator
  void* raw_alloc(size_t bytes) override;
  void* raw_alloc_with_stream(size_t bytes, cudaStream_t stream) override;
  void raw_delete(void* pointer) override;
  void init(int device_count) override;
  double getMemoryFraction(c10::DeviceIndex device) override;
  void setMemoryFraction(double fraction, c10::DeviceIndex device) override;
  std::vector<cca::StreamSegmentSize> getExpandableSegmentSizes(c10::DeviceIndex device) override;
  void enable(bool value) override;
  bool isEnabled() const override { return true; }
  void cacheInfo(c10::DeviceIndex device, size_t* largest) override;
  void* getBaseAllocation(void* pointer, size_t* size) override;
  cca::SnapshotInfo snapshot(c10::MempoolId_t pool, bool include_traces) override;
  void beginAllocateToPool(c10::DeviceIndex device, c10::MempoolId_t pool,
                           std::function<bool(cudaStream_t)> filter) override;
  void endAllocateToPool(c10::DeviceIndex device, c10::MempoolId_t pool) override;
  void releasePool(c10::DeviceIndex device, c10::MempoolId_t pool) override;
  int getPoolUseCount(c10::DeviceIndex device, c10::MempoolId_t pool) override;
  void createOrIncrefPool(c10::DeviceIndex device, c10::MempoolId_t pool,
                          std::shared_ptr<cca::CUDAAllocator> allocator) override;
  void setUseOnOOM(c10::DeviceIndex device, c10::MempoolId_t pool, bool use_on_oom) override;
  void setNoSplit(c10::DeviceIndex device, c10::MempoolId_t pool) override;
  bool checkPoolLiveAllocations(c10::DeviceIndex device, c10::MempoolId_t pool,
                                const std::unordered_set<void*>& expected) override;
  cca::ShareableHandle shareIpcHandle(void* pointer) override;
  std::shared_ptr<void> getIpcDevPtr(std::string handle) override;
  bool isHistoryEnabled() override;
  std::shared_ptr<c10::GatheredContext> getContextForPointer(const void* pointer) override;
  void recordHistory(bool enabled, CreateContextFn recorder, size_t entries, RecordContext when,
                     bool clear, const std::vector<std::string>& skip_actions) override;
  void attachOutOfMemoryObserver(cca::OutOfMemoryObserver observer) override;
  void attachOomRejectionObserver(cca::OomRejectionObserver observer) override;
  void attachAllocatorTraceTracker(
      c10::CachingDeviceAllocator::AllocatorTraceTracker tracker) override;
  void enablePeerAccess(c10::DeviceIndex device, c10::DeviceIndex peer) override;
  cudaError_t memcpyAsync(void* to, int to_device, const void* from, int from_device, size_t count,
                          cudaStream_t stream, bool p2p_enabled) override;
  std::shared_ptr<cca::AllocatorState> getCheckpointState(c10::DeviceIndex device,
                                                          c10::MempoolId_t pool) override;
  cca::CheckpointDelta setCheckpointPoolState(c10::DeviceIndex device,
                                              std::shared_ptr<cca::AllocatorState> state) override;
  std::string name() override { return "ferry"; }

 private:
  Device& device(c10::DeviceIndex index);
  void* allocate_on(c10::DeviceIndex index, size_t bytes, cudaStream_t stream);

  const Settings settings_;
  std::vector<std::unique_ptr<Device>> devices_;  // made by init, before the first request
  HeldBlocks held_;
};

}  // namespace ferry_torch
