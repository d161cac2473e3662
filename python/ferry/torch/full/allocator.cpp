// SPDX-License-Identifier: Apache-2.0
// The everyday part: allocating, freeing, streams, limits, statistics.
#include "allocator.hpp"

#include <c10/core/impl/GPUTrace.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <utility>

namespace ferry_torch {

namespace {

void delete_block(void* pointer) {
  cca::get()->raw_delete(pointer);
}

}  // namespace

void HeldBlocks::add(void* pointer, const Held& held) {
  Shard& shard = shard_of(pointer);
  const std::lock_guard lock(shard.mutex);
  shard.blocks.insert_or_assign(pointer, held);
}

bool HeldBlocks::find(const void* pointer, Held& held) {
  Shard& shard = shard_of(pointer);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.blocks.find(pointer);
  if (found == shard.blocks.end()) return false;
  held = found->second;
  return true;
}

bool HeldBlocks::take(const void* pointer, Held& held) {
  Shard& shard = shard_of(pointer);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.blocks.find(pointer);
  if (found == shard.blocks.end()) return false;
  held = found->second;
  shard.blocks.erase(found);
  return true;
}

void Allocator::init(int device_count) {
  if (!devices_.empty()) return;
  ferry_options options{sizeof(options),
                        settings_.driver.empty() ? nullptr : settings_.driver.c_str()};
  check(api().init(&options));
  check(api().process_pool_limit(settings_.limit));
  // Read here, so that torch checks the keys that Ferry left in the variable.
  const double fraction =
      c10::cuda::CUDACachingAllocator::CUDAAllocatorConfig::per_process_memory_fraction();
  std::vector<std::unique_ptr<Device>> devices;
  for (int index = 0; index < device_count; ++index)
    devices.push_back(std::make_unique<Device>(index));
  devices_ = std::move(devices);
  if (fraction < 1.0) {
    for (const auto& each : devices_) each->set_limit(settings_.limit, fraction);
  }
}

Device& Allocator::device(c10::DeviceIndex index) {
  TORCH_CHECK(index >= 0 && static_cast<size_t>(index) < devices_.size(),
              "Allocator not initialized for device ", static_cast<int>(index),
              ": did you call init?");
  return *devices_[static_cast<size_t>(index)];
}

void* Allocator::allocate_on(c10::DeviceIndex index, size_t bytes, cudaStream_t stream) {
  Device& there = device(index);
  const uint64_t private_pool = there.routes().pool_for(stream);
  void* const pointer = there.allocate(bytes, stream, private_pool);
  held_.add(pointer, Held{index, stream, bytes, private_pool});
  if (const c10::impl::PyInterpreter* const trace = c10::impl::GPUTrace::get_trace()) {
    (*trace)->trace_gpu_memory_allocation(c10::kCUDA, reinterpret_cast<uintptr_t>(pointer));
  }
  return pointer;
}

c10::DataPtr Allocator::allocate(size_t bytes) {
  constexpr size_t kOneExabyte = size_t{1} << 60;
  TORCH_CHECK_WITH(OutOfMemoryError, bytes < kOneExabyte,
                   "CUDA out of memory. Tried to allocate more than 1EB memory.");
  const c10::DeviceIndex index = c10::cuda::current_device();
  void* const pointer =
      bytes == 0 ? nullptr : allocate_on(index, bytes, c10::cuda::getCurrentCUDAStream(index));
  return {pointer, pointer, &delete_block, c10::Device(c10::DeviceType::CUDA, index)};
}

c10::DeleterFnPtr Allocator::raw_deleter() const {
  return &delete_block;
}

void* Allocator::raw_alloc(size_t bytes) {
  if (bytes == 0) return nullptr;
  const c10::DeviceIndex index = c10::cuda::current_device();
  return allocate_on(index, bytes, c10::cuda::getCurrentCUDAStream(index));
}

void* Allocator::raw_alloc_with_stream(size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return nullptr;
  return allocate_on(c10::cuda::current_device(), bytes, stream);
}

void Allocator::raw_delete(void* pointer) {
  if (pointer == nullptr) return;
  Held held;
  TORCH_CHECK(held_.take(pointer, held), "invalid device pointer: ", pointer);
  if (const c10::impl::PyInterpreter* const trace = c10::impl::GPUTrace::get_trace()) {
    (*trace)->trace_gpu_memory_deallocation(c10::kCUDA, reinterpret_cast<uintptr_t>(pointer));
  }
  const ferry_status status = device(static_cast<c10::DeviceIndex>(held.device))
                                  .free(pointer, held.bytes, held.stream, held.private_pool);
  // In a child of fork(), and where the driver has ended before us, there is nothing to give back.
  if (status == FERRY_ERROR_NOT_INITIALIZED || status == FERRY_ERROR_DEVICE_LOST) return;
  check(status);
}

void Allocator::copy_data(void* to, const void* from, std::size_t count) const {
  C10_CUDA_CHECK(cudaMemcpy(to, from, count, cudaMemcpyDeviceToDevice));
}

void Allocator::recordStream(const c10::DataPtr& data, c10::cuda::CUDAStream stream) {
  // Empty tensors have no block, and tensors around foreign memory are none of ours.
  if (data.get() == nullptr || data.get_deleter() != &delete_block) return;
  Held held;
  TORCH_CHECK(held_.find(data.get(), held), "No allocated block can be found for ", data.get());
  if (stream.stream() == held.stream && stream.device_index() == held.device) return;
  device(static_cast<c10::DeviceIndex>(held.device)).record_use(data.get(), stream.stream());
}

double Allocator::getMemoryFraction(c10::DeviceIndex index) {
  return device(index).fraction();
}

void Allocator::setMemoryFraction(double fraction, c10::DeviceIndex index) {
  TORCH_CHECK(0 <= fraction && fraction <= 1, "invalid fraction:", fraction,
              ". Please set within [0, 1].");
  device(index).set_limit(settings_.limit, fraction);
}

DeviceStats Allocator::getDeviceStats(c10::DeviceIndex index) {
  return device(index).stats();
}

void Allocator::resetAccumulatedStats(c10::DeviceIndex index) {
  device(index).reset_totals();
}

void Allocator::resetPeakStats(c10::DeviceIndex index) {
  device(index).reset_peaks();
}

void Allocator::cacheInfo(c10::DeviceIndex index, size_t* largest) {
  size_t free = *largest;
  if (free == 0) {
    const c10::cuda::CUDAGuard guard(index);
    size_t total = 0;
    C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  }
  *largest = std::max(free, device(index).largest_idle());
}

cudaError_t Allocator::memcpyAsync(void* to, int to_device, const void* from, int from_device,
                                   size_t count, cudaStream_t stream, bool /*p2p_enabled*/) {
  // Pool memory is mapped piece by piece; between devices the peer form copies it in any case.
  if (to_device == from_device)
    return cudaMemcpyAsync(to, from, count, cudaMemcpyDeviceToDevice, stream);
  return cudaMemcpyPeerAsync(to, to_device, from, from_device, count, stream);
}

bool Allocator::isHistoryEnabled() {
  return std::any_of(devices_.begin(), devices_.end(),
                     [](const auto& each) { return each->history().enabled(); });
}

std::shared_ptr<c10::GatheredContext> Allocator::getContextForPointer(const void* pointer) {
  Held held;
  if (!held_.find(pointer, held)) return nullptr;
  return device(static_cast<c10::DeviceIndex>(held.device)).context_of(pointer);
}

void Allocator::recordHistory(bool enabled, CreateContextFn recorder, size_t entries,
                              RecordContext when, bool clear,
                              const std::vector<std::string>& skip_actions) {
  TORCH_CHECK(when == RecordContext::NEVER || recorder != nullptr,
              "there is no recorder of contexts");
  for (const auto& each : devices_)
    each->history().set(enabled, recorder, entries, when, clear, skip_actions);
}

void Allocator::attachOutOfMemoryObserver(cca::OutOfMemoryObserver observer) {
  for (const auto& each : devices_) each->observe_oom(observer);
}

void Allocator::attachOomRejectionObserver(cca::OomRejectionObserver /*observer*/) {
  // Ferry rejects nothing before it has asked the driver: there is nothing to observe.
}

void Allocator::attachAllocatorTraceTracker(
    c10::CachingDeviceAllocator::AllocatorTraceTracker tracker) {
  for (const auto& each : devices_) each->history().attach(tracker);
}

}  // namespace ferry_torch
