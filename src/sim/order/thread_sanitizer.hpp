// SPDX-License-Identifier: Apache-2.0
// ThreadSanitizer, where the program is built with it: its functions for fibers and for the order
// between threads, looked up by weak references, so that one libcuda.so.1 serves every program.
// Only a build that was asked to has any of this (watching.hpp). A fiber is, to the sanitizer, a
// thread of its own that other threads lend their time to.
//
// The stand-in itself must not be seen. Its lock would order the program's threads with one another
// where a real driver does not, and the bytes it moves would be the calling thread's. So all that a
// thread does inside the library is quiet, and what queued work does is told of by hand
// (stream_fibers.hpp). Linked into a program, as in unit tests, the library is looked at instead.
#pragma once

#include <cstddef>

#include "sim/order/host_use.hpp"

namespace ferry::sim {

// The sanitizer's functions by the names they have there.
struct Sanitizer {
  void* (*current_fiber)() = nullptr;
  void* (*create_fiber)(unsigned flags) = nullptr;
  void (*destroy_fiber)(void* fiber) = nullptr;
  void (*switch_to_fiber)(void* fiber, unsigned flags) = nullptr;
  void (*set_fiber_name)(void* fiber, const char* name) = nullptr;
  void (*acquire)(void* token) = nullptr;
  void (*release)(void* token) = nullptr;
  void (*read_range)(void* start, unsigned long bytes, void* return_address) = nullptr;
  void (*write_range)(void* start, unsigned long bytes, void* return_address) = nullptr;
  void (*ignore_accesses)() = nullptr;
  void (*heed_accesses)() = nullptr;
  void (*ignore_order)(const char* file, int line) = nullptr;
  void (*heed_order)(const char* file, int line) = nullptr;
};

// Null where the program is not built with it, and where the stand-in is a part of the program.
[[nodiscard]] const Sanitizer* sanitizer();

// While it lives, the sanitizer sees nothing of what the calling thread does.
class QuietThread {
 public:
  QuietThread() : sanitizer_(sanitizer()) {
    if (sanitizer_ == nullptr) return;
    sanitizer_->ignore_accesses();
    sanitizer_->ignore_order(__FILE__, __LINE__);
  }
  ~QuietThread() {
    if (sanitizer_ == nullptr) return;
    sanitizer_->heed_order(__FILE__, __LINE__);
    sanitizer_->heed_accesses();
  }
  QuietThread(const QuietThread&) = delete;
  QuietThread& operator=(const QuietThread&) = delete;

 private:
  const Sanitizer* const sanitizer_;
};

// What a fiber does in one go: first it learns, then it touches, then it tells. A token is an
// address that stands for what some thread or fiber had done when it released it.
struct FiberStep {
  void* const* acquired = nullptr;
  std::size_t acquired_count = 0;
  const HostAccess* accesses = nullptr;
  std::size_t access_count = 0;
  void* const* released = nullptr;
  std::size_t released_count = 0;
  const void* site = nullptr;  // the call of the program that reports name; null: the stand-in
};

// The calling thread takes the step as the fiber, without learning from it or teaching it anything.
void take_step(const Sanitizer& sanitizer, void* fiber, const FiberStep& step);

}  // namespace ferry::sim
