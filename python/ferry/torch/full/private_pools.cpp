// SPDX-License-Identifier: Apache-2.0
#include "private_pools.hpp"

#include <algorithm>
#include <utility>

#include "allocator.hpp"

namespace ferry_torch {

PoolNames& pool_names() {
  static PoolNames& names = *new PoolNames;  // asked until the very end of the process
  return names;
}

uint64_t PoolNames::name_of(c10::MempoolId_t id) {
  if (id == c10::MempoolId_t{0, 0}) return 0;
  const std::lock_guard lock(mutex_);
  const auto [known, fresh] = names_.try_emplace(id, ids_.size() + 1);
  if (fresh) ids_.push_back(id);
  return known->second;
}

c10::MempoolId_t PoolNames::id_of(uint64_t name) {
  if (name == 0) return {0, 0};
  const std::lock_guard lock(mutex_);
  return ids_.at(name - 1);
}

void Routes::begin(c10::MempoolId_t pool, std::function<bool(cudaStream_t)> filter) {
  const uint64_t name = pool_names().name_of(pool);
  const std::lock_guard lock(mutex_);
  routes_.push_back(Route{pool, name, std::move(filter)});
  any_ = true;
}

void Routes::end(c10::MempoolId_t pool) {
  const std::lock_guard lock(mutex_);
  const auto last = std::find_if(routes_.rbegin(), routes_.rend(),
                                 [&](const Route& route) { return route.pool == pool; });
  TORCH_CHECK(last != routes_.rend(), "endAllocatePool: not currently recording to mempool_id");
  routes_.erase(std::next(last).base());
  any_ = !routes_.empty();
}

uint64_t Routes::pool_for(cudaStream_t stream) {
  if (!any_.load(std::memory_order_relaxed)) return 0;
  const std::lock_guard lock(mutex_);
  const auto last = std::find_if(routes_.rbegin(), routes_.rend(),
                                 [&](const Route& route) { return route.filter(stream); });
  return last == routes_.rend() ? 0 : last->name;
}

void Allocator::beginAllocateToPool(c10::DeviceIndex index, c10::MempoolId_t pool,
                                    std::function<bool(cudaStream_t)> filter) {
  device(index).retain_pool(pool);
  device(index).routes().begin(pool, std::move(filter));
}

void Allocator::endAllocateToPool(c10::DeviceIndex index, c10::MempoolId_t pool) {
  device(index).routes().end(pool);
}

void Allocator::createOrIncrefPool(c10::DeviceIndex index, c10::MempoolId_t pool,
                                   std::shared_ptr<cca::CUDAAllocator> allocator) {
  TORCH_CHECK_NOT_IMPLEMENTED(allocator == nullptr,
                              "Ferry does not support a torch.cuda.MemPool with an allocator of "
                              "its own yet. Run the program without backend:ferry for that.");
  device(index).retain_pool(pool);
}

void Allocator::releasePool(c10::DeviceIndex index, c10::MempoolId_t pool) {
  device(index).release_pool(pool);
}

int Allocator::getPoolUseCount(c10::DeviceIndex index, c10::MempoolId_t pool) {
  return device(index).pool_uses(pool);
}

bool Allocator::checkPoolLiveAllocations(c10::DeviceIndex index, c10::MempoolId_t pool,
                                         const std::unordered_set<void*>& expected) {
  const std::vector<void*> live = device(index).live_in(pool);
  return live.size() == expected.size() &&
         std::all_of(live.begin(), live.end(),
                     [&](void* pointer) { return expected.count(pointer) != 0; });
}

}  // namespace ferry_torch
