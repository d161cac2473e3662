// SPDX-License-Identifier: Apache-2.0
// A mutex that clang's thread-safety analysis understands and whose rank is its floor: locks are
// taken from high floors to low ones only. Builds with audits check that on every lock.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#if defined(__clang__)
#define FERRY_ATTRIBUTE(x) __attribute__((x))
#else
#define FERRY_ATTRIBUTE(x)
#endif
#define FERRY_CAPABILITY(name) FERRY_ATTRIBUTE(capability(name))
#define FERRY_SCOPED_CAPABILITY FERRY_ATTRIBUTE(scoped_lockable)
#define FERRY_GUARDED_BY(mutex) FERRY_ATTRIBUTE(guarded_by(mutex))
#define FERRY_REQUIRES(mutex) FERRY_ATTRIBUTE(requires_capability(mutex))
#define FERRY_ACQUIRE(...) FERRY_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define FERRY_RELEASE(...) FERRY_ATTRIBUTE(release_capability(__VA_ARGS__))

namespace ferry {

enum class LockRank : std::uint8_t { driver = 1, memory, transfer, tiers, offload, front };

class FERRY_CAPABILITY("mutex") Mutex {
 public:
  explicit Mutex(LockRank rank) : rank_(rank) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() FERRY_ACQUIRE() {
    check_rank();
    mutex_.lock();
    outer_ = std::exchange(innermost(), this);
  }
  void unlock() FERRY_RELEASE() {
    innermost() = outer_;
    mutex_.unlock();
  }

 private:
  // The lock this thread took last and still holds. Locks are released in reverse order
  // (MutexLock).
  static Mutex*& innermost() {
    thread_local Mutex* held = nullptr;
    return held;
  }

  void check_rank() const {
#if defined(FERRY_AUDITS)
    if (innermost() != nullptr && innermost()->rank_ <= rank_) {
      std::fprintf(stderr, "ferry: a lock of rank %d was taken while one of rank %d is held\n",
                   static_cast<int>(rank_), static_cast<int>(innermost()->rank_));
      std::abort();
    }
#endif
  }

  std::mutex mutex_;
  const LockRank rank_;
  Mutex* outer_ = nullptr;  // guarded by mutex_
};

class FERRY_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) FERRY_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() FERRY_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace ferry
