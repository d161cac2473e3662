// SPDX-License-Identifier: Apache-2.0
#include "sim/order/thread_sanitizer.hpp"

#include "sim/words/own_module.hpp"

// Null where nobody in the process defines them.
extern "C" {
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_destroy_fiber(void* fiber);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
[[gnu::weak]] void __tsan_set_fiber_name(void* fiber, const char* name);
[[gnu::weak]] void __tsan_acquire(void* token);
[[gnu::weak]] void __tsan_release(void* token);
[[gnu::weak]] void __tsan_read_range_pc(void* start, unsigned long bytes, void* return_address);
[[gnu::weak]] void __tsan_write_range_pc(void* start, unsigned long bytes, void* return_address);
[[gnu::weak]] void __tsan_ignore_thread_begin();
[[gnu::weak]] void __tsan_ignore_thread_end();
[[gnu::weak]] void AnnotateIgnoreSyncBegin(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreSyncEnd(const char* file, int line);
}

namespace ferry::sim {

namespace {

constexpr unsigned kWithoutOrder = 1;  // the switch itself orders nothing

constexpr Sanitizer kNames = {__tsan_get_current_fiber, __tsan_create_fiber,
                              __tsan_destroy_fiber,     __tsan_switch_to_fiber,
                              __tsan_set_fiber_name,    __tsan_acquire,
                              __tsan_release,           __tsan_read_range_pc,
                              __tsan_write_range_pc,    __tsan_ignore_thread_begin,
                              __tsan_ignore_thread_end, AnnotateIgnoreSyncBegin,
                              AnnotateIgnoreSyncEnd};

// A runtime older than fibers, or one that keeps some names to itself, is none.
bool is_complete(const Sanitizer& found) {
  return found.current_fiber != nullptr && found.create_fiber != nullptr &&
         found.destroy_fiber != nullptr && found.switch_to_fiber != nullptr &&
         found.set_fiber_name != nullptr && found.acquire != nullptr && found.release != nullptr &&
         found.read_range != nullptr && found.write_range != nullptr &&
         found.ignore_accesses != nullptr && found.heed_accesses != nullptr &&
         found.ignore_order != nullptr && found.heed_order != nullptr;
}

}  // namespace

const Sanitizer* sanitizer() {
  static const bool is_there = is_complete(kNames) && own_module().is_library;
  return is_there ? &kNames : nullptr;
}

// Itself unseen: it runs on the stack of the calling thread, which the fiber has no part in.
[[gnu::no_sanitize_thread]] void take_step(const Sanitizer& sanitizer, void* fiber,
                                           const FiberStep& step) {
  void* const thread = sanitizer.current_fiber();
  void* const site =
      step.site == nullptr ? __builtin_return_address(0) : const_cast<void*>(step.site);
  sanitizer.switch_to_fiber(fiber, kWithoutOrder);
  for (std::size_t i = 0; i < step.acquired_count; ++i) sanitizer.acquire(step.acquired[i]);
  for (std::size_t i = 0; i < step.access_count; ++i) {
    void* const start = reinterpret_cast<void*>(step.accesses[i].address);
    if (step.accesses[i].writes) {
      sanitizer.write_range(start, step.accesses[i].bytes, site);
    } else {
      sanitizer.read_range(start, step.accesses[i].bytes, site);
    }
  }
  for (std::size_t i = 0; i < step.released_count; ++i) sanitizer.release(step.released[i]);
  sanitizer.switch_to_fiber(thread, kWithoutOrder);
}

}  // namespace ferry::sim
