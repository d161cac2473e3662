// SPDX-License-Identifier: Apache-2.0
// Torch's private pools: their names, and which requests go to which. The memory is Ferry's.
#pragma once

#include <c10/cuda/CUDACachingAllocator.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace ferry_torch {

// Torch names a pool by two numbers, Ferry by one; 0 and {0, 0}: no private pool. A name is kept
// for good: snapshots ask for it.
class PoolNames {
 public:
  [[nodiscard]] uint64_t name_of(c10::MempoolId_t id);
  [[nodiscard]] c10::MempoolId_t id_of(uint64_t name);

 private:
  std::mutex mutex_;
  std::map<c10::MempoolId_t, uint64_t> names_;
  std::vector<c10::MempoolId_t> ids_;
};

// The one of this process.
PoolNames& pool_names();

// Where the requests of one device go at the moment.
class Routes {
 public:
  void begin(c10::MempoolId_t pool, std::function<bool(cudaStream_t)> filter);
  void end(c10::MempoolId_t pool);
  // Ferry's name of the pool that serves a request on `stream`. That begun last is asked first, so
  // that torch.cuda.use_mem_pool works inside of a capture.
  [[nodiscard]] uint64_t pool_for(cudaStream_t stream);

 private:
  struct Route {
    c10::MempoolId_t pool;
    uint64_t name;
    std::function<bool(cudaStream_t)> filter;
  };

  std::atomic<bool> any_{false};  // so that other requests take no lock
  std::mutex mutex_;
  std::vector<Route> routes_;
};

}  // namespace ferry_torch
