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

namespace {

// A host function runs on whichever thread a schedule makes run it: its time is no thread's.
void spend(Machine& machine, Picoseconds duration) {
  if (!ThreadState::mine().in_host_function) machine.engine.timeline().clock().spend(duration);
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
    const ferry::sim::Clock waited_for = machine.engine.clock_of_all();
    machine.engine.finish_all(lock);
    machine.engine.observe(waited_for);
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
  Library::get().with_machine(
      [&](Lock&, Machine& machine) { now = machine.engine.timeline().clock().now(); });
  return static_cast<uint64_t>(now);
}

void ferry_sim_host_work(uint64_t nanoseconds) {
  constexpr uint64_t kDay = 86'400'000'000'000;
  Library::get().with_machine([&](Lock&, Machine& machine) {
    spend(machine, static_cast<Picoseconds>(std::min(nanoseconds, kDay)) *
                       ferry::sim::kPicosecondsPerNanosecond);
  });
}

void ferry_sim_host_copy(uint64_t bytes) {
  Library::get().with_machine([&](Lock&, Machine& machine) {
    if (machine.profile() == nullptr) return;
    const auto rate = static_cast<uint64_t>(machine.profile()->host_memcpy.value);
    spend(machine, ferry::sim::time_for(ferry::sim::work_of(bytes), rate));
  });
}
