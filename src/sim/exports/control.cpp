// SPDX-License-Identifier: Apache-2.0
// Exported: the controls of include/ferry/sim.h.
#include "sim/exports/control.hpp"

#include <algorithm>

#include "sim/machine/library.hpp"

using ferry::sim::Library;
using ferry::sim::Lock;
using ferry::sim::Machine;
using ferry::sim::Picoseconds;
using ferry::sim::ThreadState;
using ferry::sim::Turns;

namespace {

// A host function runs on whichever thread a schedule makes run it: its time is no thread's.
void spend(Lock& lock, Machine& machine, Picoseconds duration) {
  if (ThreadState::mine().in_host_function) return;
  // Who may not use the driver now moves its own clock alone.
  const bool may_run_work = machine.engine.turns().may_call();
  machine.engine.timeline().clock().spend(duration);
  machine.engine.turns().catch_up(lock);
  if (may_run_work) machine.engine.progress(lock);
}

// Runs change(Lock&, Turns&); 0 where that says true. A host function runs within a call of its
// thread, which has its place there: it may only wake others.
template <typename Change>
int change_round(Change&& change, bool from_host_function = false) {
  if (ThreadState::mine().in_host_function && !from_host_function) return -1;
  bool changed = false;
  Library::get().with_machine(
      [&](Lock& lock, Machine& machine) { changed = change(lock, machine.engine.turns()); });
  return changed ? 0 : -1;
}

}  // namespace

int ferry_sim_configure(const char* settings) {
  return settings != nullptr && Library::get().configure(settings) ? 0 : -1;
}

const char* ferry_sim_settings_error() {
  return Library::get().settings_error();
}

int ferry_sim_reset(const char* settings) {
  return Library::get().reset(settings == nullptr ? "" : settings) ? 0 : -1;
}

int ferry_sim_fail_nth(const char* function, uint64_t nth, int result) {
  return function != nullptr && Library::get().fail_nth(function, nth, result) ? 0 : -1;
}

uint64_t ferry_sim_calls(const char* function) {
  return function == nullptr ? 0 : Library::get().calls(function);
}

uint64_t ferry_sim_call_cost_ps(const char* function) {
  return function == nullptr ? 0 : Library::get().cost(function);
}

uint64_t ferry_sim_memory_in_use(int device) {
  uint64_t bytes = 0;
  Library::get().with_machine([&](Lock&, Machine& machine) {
    if (machine.has_device(device)) bytes = machine.physical.in_use(device).count;
  });
  return bytes;
}

void ferry_sim_drain() {
  if (ThreadState::mine().in_host_function) return;  // it would wait for itself
  Library::get().with_machine([](Lock& lock, Machine& machine) {
    if (!machine.engine.turns().may_call()) return;
    const ferry::sim::Clock waited_for = machine.engine.clock_of_all();
    machine.engine.finish_all(lock);
    machine.engine.observe(waited_for);
    machine.engine.turns().catch_up(lock);
  });
}

uint64_t ferry_sim_take_hazards() {
  return Library::get().take_hazards();
}

int ferry_sim_register_kernel(const ferry_sim_kernel* kernel) {
  return kernel != nullptr && Library::get().register_kernel(*kernel) ? 0 : -1;
}

int ferry_sim_peek(uint64_t address, void* out, size_t bytes) {
  bool read = false;
  if (out == nullptr) return -1;
  Library::get().with_machine([&](Lock&, Machine& machine) {
    read = machine.operations.peek(address, static_cast<std::byte*>(out), bytes);
  });
  return read ? 0 : -1;
}

uint64_t ferry_sim_now_ps() {
  Picoseconds now = 0;
  Library::get().with_machine([&](Lock&, Machine& machine) {
    machine.engine.turns().follow_last_round();
    now = machine.engine.timeline().clock().now();
  });
  return static_cast<uint64_t>(now);
}

void ferry_sim_host_work(uint64_t nanoseconds) {
  constexpr uint64_t kDay = 86'400'000'000'000;
  Library::get().with_machine([&](Lock& lock, Machine& machine) {
    spend(lock, machine,
          static_cast<Picoseconds>(std::min(nanoseconds, kDay)) *
              ferry::sim::kPicosecondsPerNanosecond);
  });
}

void ferry_sim_host_copy(uint64_t bytes) {
  Library::get().with_machine([&](Lock& lock, Machine& machine) {
    if (machine.profile() == nullptr) return;
    const auto rate = static_cast<uint64_t>(machine.profile()->host_memcpy.value);
    spend(lock, machine, ferry::sim::time_for(ferry::sim::work_of(bytes), rate));
  });
}

int ferry_sim_set_thread_node(int node) {
  return Library::get().set_thread_node(node) ? 0 : -1;
}

int ferry_sim_place_host(const void* memory, size_t bytes, int node) {
  bool placed = false;
  const auto start = reinterpret_cast<std::uintptr_t>(memory);
  Library::get().with_machine([&](Lock&, Machine& machine) {
    placed = memory != nullptr && bytes > 0 && bytes <= UINTPTR_MAX - start && node >= 0 &&
             node < machine.host_node_count();
    if (placed) machine.host.nodes().place(start, bytes, node);
  });
  return placed ? 0 : -1;
}

int ferry_sim_thread_expect(uint64_t number) {
  return change_round([&](Lock&, Turns& turns) { return turns.expect(number); });
}

int ferry_sim_thread_begin(uint64_t number) {
  return change_round([&](Lock& lock, Turns& turns) { return turns.begin(lock, number); });
}

int ferry_sim_thread_end() {
  return change_round([](Lock&, Turns& turns) { return turns.end(); });
}

int ferry_sim_thread_pause() {
  return change_round([](Lock&, Turns& turns) { return turns.pause(); });
}

int ferry_sim_thread_wake(uint64_t number) {
  return change_round([&](Lock&, Turns& turns) { return turns.wake(number); }, true);
}

int ferry_sim_thread_resume() {
  return change_round([](Lock& lock, Turns& turns) { return turns.resume(lock); });
}
