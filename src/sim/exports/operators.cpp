// SPDX-License-Identifier: Apache-2.0
// Exported: the controls of include/ferry/sim.h by which a framework tells of its operators.
#include <algorithm>
#include <span>
#include <vector>

#include "sim/exports/control.hpp"
#include "sim/machine/capture_access.hpp"
#include "sim/words/handles.hpp"

namespace ferry::sim {

namespace {

using Ranges = std::span<const ferry_sim_range>;

// Runs use(Call&, StreamUse&); 0 where that says success. The stream is one of the device's primary
// context.
template <typename Use>
int on_stream(int device, void* handle, Use&& use) {
  if (ThreadState::mine().in_host_function) return -1;
  CUresult result = CUDA_ERROR_INVALID_VALUE;
  Library::get().with_machine([&](Lock& lock, Machine& machine) {
    if (!machine.has_device(device) || !machine.engine.turns().may_call()) return;
    Call call{lock, machine, ThreadState::mine()};
    call.context = machine.contexts.active_primary(device);
    StreamUse stream;
    result = find_stream(call, static_cast<CUstream>(handle), stream);
    if (result == CUDA_SUCCESS) result = use(call, stream);
  });
  return result == CUDA_SUCCESS ? 0 : -1;
}

std::vector<Touch> touches_of(Ranges ranges) {
  std::vector<Touch> touches;
  for (const ferry_sim_range& range : ranges) {
    const auto kind = range.writes != 0 ? AccessKind::write : AccessKind::read;
    if (range.bytes > 0) touches.push_back({range.address, range.bytes, kind});
  }
  return touches;
}

// Of the new memory, what skipped kernels were to write.
std::vector<AddressRange> left_to_kernels(const OperatorScope& operators, Ranges ranges) {
  std::vector<AddressRange> left;
  if (!Library::get().kernels().skips_unknown()) return left;
  for (const ferry_sim_range& range : ranges) {
    if (range.writes != FERRY_SIM_WRITES_NEW || range.bytes == 0) continue;
    std::ranges::copy(operators.unwritten_in({range.address, range.bytes}),
                      std::back_inserter(left));
  }
  return left;
}

Submission operator_work(Call& call, CUstream stream, Ranges ranges) {
  Submission submission;
  submission.symbol = Symbol::cuLaunchKernel;
  submission.stream = stream;
  submission.touches = touches_of(ranges);
  submission.in_anothers_time = true;
  submission.part_of = call.thread.operators.current();
  submission.node = EmptyNode{};
  submission.work = [&machine = call.machine,
                     left = left_to_kernels(call.thread.operators, ranges)](int device) {
    for (const AddressRange& range : left) {
      const CUresult result = machine.operations.discard(device, range.start, range.bytes);
      if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
  };
  return submission;
}

bool is_device_memory(const Machine& machine, Ranges ranges) {
  return std::ranges::all_of(ranges, [&](const ferry_sim_range& range) {
    return range.bytes == 0 || (machine.addresses.contains(range.address) &&
                                machine.addresses.contains(range.address + range.bytes - 1));
  });
}

}  // namespace

}  // namespace ferry::sim

using ferry::sim::Call;
using ferry::sim::Clock;
using ferry::sim::known_operator;
using ferry::sim::Library;
using ferry::sim::Lock;
using ferry::sim::Machine;
using ferry::sim::StreamUse;
using ferry::sim::ThreadState;

int ferry_sim_operator_begin(const char* name, const char* place, const ferry_sim_range* inputs,
                             size_t count) {
  ThreadState& thread = ThreadState::mine();
  if (name == nullptr || place == nullptr || (inputs == nullptr && count > 0) ||
      thread.in_host_function)
    return -1;
  std::vector<ferry::sim::AddressRange> ranges;
  for (const ferry_sim_range& range : std::span(inputs, count))
    ranges.push_back({range.address, range.bytes});
  thread.operators.begin(known_operator(name, place), ranges);
  return 0;
}

int ferry_sim_operator_touches(int device, void* stream, const ferry_sim_range* ranges,
                               size_t count) {
  if (ThreadState::mine().operators.current() == nullptr || (ranges == nullptr && count > 0))
    return -1;
  return ferry::sim::on_stream(device, stream, [&](Call& call, const StreamUse& use) {
    const std::span all(ranges, count);
    if (!ferry::sim::is_device_memory(call.machine, all)) return CUDA_ERROR_INVALID_VALUE;
    return submit_on(call, use,
                     ferry::sim::operator_work(call, static_cast<CUstream>(stream), all));
  });
}

int ferry_sim_operator_end() {
  return ThreadState::mine().operators.end() ? 0 : -1;
}

int ferry_sim_storage_end(const char* place, int device, void* stream, uint64_t address,
                          size_t bytes, void* const* users, size_t count) {
  if (place == nullptr || (users == nullptr && count > 0)) return -1;
  return ferry::sim::on_stream(device, stream, [&](Call& call, const StreamUse& use) {
    if (capture_of(call, use) != nullptr) return CUDA_SUCCESS;
    Clock before = call.machine.engine.clock_before_next(*use.stream);
    for (void* const user : std::span(users, count)) {
      StreamUse other;
      if (find_stream(call, static_cast<CUstream>(user), other) == CUDA_SUCCESS)
        before.join(call.machine.engine.clock_of(*other.stream));
    }
    const ferry::sim::StorageEnd end{known_operator("", place),
                                     reinterpret_cast<std::uintptr_t>(stream)};
    call.machine.hazards.note_release(end, address, bytes, before);
    return CUDA_SUCCESS;
  });
}

int ferry_sim_settle() {
  if (ThreadState::mine().in_host_function) return -1;
  Library::get().with_machine([](Lock& lock, Machine& machine) {
    if (!machine.engine.turns().may_call()) return;
    while (machine.engine.go_on(lock)) {
    }
  });
  return 0;
}

void* ferry_sim_host_view(uint64_t address, size_t bytes) {
  void* view = nullptr;
  Library::get().with_machine([&](Lock&, Machine& machine) {
    if (bytes > 0) view = machine.host_views.view(address, bytes);
  });
  return view;
}
