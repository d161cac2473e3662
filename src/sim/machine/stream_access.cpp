// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/stream_access.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <memory>
#include <variant>

#include "sim/hazards/host_contents.hpp"
#include "sim/machine/capture_access.hpp"
#include "sim/machine/copy_notes.hpp"
#include "sim/machine/operation_load.hpp"
#include "sim/memory/mapped_range.hpp"

namespace ferry::sim {

// What is kept of an operation until it runs.
struct KeptUntilRun {
  Toucher who;
  std::vector<Touch> unplaced;           // what it touches, where its place is known only then
  std::vector<Touch> sole_destinations;  // host memory that nothing else queued was to write
  // Where it had not run when its call ended: the host memory that it touches, and what was in it.
  std::vector<Touch> host_memory;
  HostContents contents;
  std::shared_ptr<CopyNotes> copies;  // null where nobody wants to know
};

namespace {

Stream& per_thread_stream(Call& call) {
  Stream*& stream = call.context->per_thread[call.thread.number];
  if (stream == nullptr) stream = &call.machine.engine.create_stream(*call.context->streams, true);
  return *stream;
}

Toucher toucher_of(const Call& call, const Operation& operation, const Submission& submission) {
  Toucher who;
  who.site = call.site;
  who.lane = operation.lane;
  who.count = operation.count;
  who.operation = operation.number;
  who.stream = value_of(submission.stream);
  who.symbol = submission.symbol;
  who.part_of = submission.part_of;
  if (submission.launch != 0) {
    who.symbol = submission.added_by;
    who.site = submission.added_at;
    who.launch = submission.launch;
    who.launch_site = call.site;
  }
  return who;
}

bool is_host_memory(const Machine& machine, const Touch& touch) {
  return !machine.addresses.contains(touch.address);
}

// The host memory that the operation alone is to write, of all that is queued. Left out is what a
// kernel says of itself: it may write less than it says.
std::vector<Touch> find_sole_destinations(const Machine& machine, const Submission& submission) {
  std::vector<Touch> found;
  if (!machine.hazards.is_on() || !machine.physical.with_data()) return found;
  const bool is_kernel = submission.node && std::holds_alternative<KernelNode>(*submission.node);
  if (is_kernel || submission.word.address != 0) return found;
  for (const Touch& touch : submission.touches) {
    if (touch.kind == AccessKind::write && is_host_memory(machine, touch) &&
        !machine.hazards.is_being_written(touch.address, touch.bytes, machine.engine.seen()))
      found.push_back(touch);
  }
  return found;
}

// Remembers what the host memory holds that the operation reads or writes. Left out is what the
// program may leave to queued work: memory that another operation writes, and any while host
// functions are waiting.
void remember_contents(Machine& machine, const QueuedOperation& queued) {
  if (!machine.hazards.is_on() || machine.engine.waiting_host_functions() > 0) return;
  KeptUntilRun& kept = *queued.kept;
  const bool placed = kept.unplaced.empty();
  for (const Touch& touch : kept.host_memory) {
    if (touch.kind != AccessKind::read || (!placed && !touch.compared)) continue;
    if (!machine.hazards.is_being_written(touch.address, touch.bytes, machine.engine.seen()))
      kept.contents.remember(touch);
  }
  for (const Touch& touch : kept.sole_destinations) kept.contents.remember(touch);
}

// What the program has done meanwhile to the host memory that the operation, which is about to run,
// touches. An error where it can no longer be touched.
CUresult check_host_memory(Machine& machine, const KeptUntilRun& kept) {
  for (const Touch& touch : kept.host_memory) {
    if (is_mapped(touch.address, touch.bytes)) continue;
    machine.hazards.note_gone_memory(kept.who, touch);
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  }
  const auto changed = kept.contents.find_changed();
  if (!changed) return CUDA_SUCCESS;
  // It may have been other queued work, which was named when the later of the two was queued.
  const Clock& before = machine.engine.clock_of_running();
  if (!machine.hazards.is_being_written(changed->address, changed->bytes, before))
    machine.hazards.note_changed_memory(kept.who, *changed);
  return CUDA_SUCCESS;
}

void check_unplaced(Machine& machine, const KeptUntilRun& kept) {
  if (kept.unplaced.empty()) return;
  const Clock& clock = machine.engine.clock_of_running();
  machine.hazards.note(kept.who, kept.unplaced, clock, machine.engine.seen());
}

// What of the host's memory the operation will touch, for the sanitizer.
HostUse host_use_of(const Machine& machine, const void* site, const Submission& submission) {
  HostUse use;
  use.site = site;
  const HostWord& word = submission.word;
  if (word.address != 0 && !machine.addresses.contains(word.address)) use.word = word;
  if (!machine.physical.with_data()) return use;  // nothing moves
  for (const Touch& touch : submission.touches) {
    if (!is_host_memory(machine, touch) || touch.address == word.address) continue;
    use.accesses.push_back({touch.address, touch.bytes, touch.kind == AccessKind::write});
  }
  return use;
}

// What the call costs for each member of a batch, beyond its own price.
void charge_members(Machine& machine, Symbol symbol, std::uint64_t members) {
  const Profile* const profile = machine.profile();
  if (profile == nullptr || price_of(symbol).call != &Profile::batch) return;
  machine.engine.timeline().clock().spend(profile->batch_each.value *
                                          static_cast<Picoseconds>(members));
}

OperationLoad load_of_submission(Machine& machine, const Submission& submission, int device) {
  if (submission.in_anothers_time) return {};
  const auto& moved = submission.moves.empty() ? submission.touches : submission.moves;
  OperationLoad load = load_of(machine, submission.symbol, device, moved);
  load.load.latency += submission.extra_time;
  charge_members(machine, submission.symbol, load.members);
  return load;
}

// Takes what the work does with the host's memory out of it, as an operation that comes before it:
// the program sees the end of that one alone. Requires: it only reads host memory.
Submission take_reading(const Machine& machine, Submission& submission) {
  Submission reading{submission.symbol, submission.stream, Wait::until_done, {}, {}};
  reading.work = [](int) { return CUDA_SUCCESS; };
  reading.in_anothers_time = true;
  if (submission.moves.empty()) submission.moves = submission.touches;
  for (Touch& touch : submission.touches) touch.outlasts_call = true;
  std::erase_if(submission.touches, [&](const Touch& touch) {
    if (!is_host_memory(machine, touch)) return false;
    reading.touches.push_back(touch);
    return true;
  });
  return reading;
}

// What a framework's operator queues is named by it, and counts as written by it.
void make_part_of_operator(OperatorScope& operators, Submission& submission) {
  if (operators.current() == nullptr || submission.part_of != nullptr) return;
  submission.part_of = operators.current();
  for (const Touch& touch : submission.touches) {
    if (touch.kind == AccessKind::write) operators.note_write(touch.address, touch.bytes);
  }
}

}  // namespace

CUresult find_stream(Call& call, CUstream handle, StreamUse& use) {
  if (handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
    if (call.context == nullptr) return call.no_context;
    use.context = call.context;
    use.stream =
        handle == CU_STREAM_PER_THREAD ? &per_thread_stream(call) : call.context->streams->legacy;
  } else {
    const StreamEntry* const entry = call.machine.streams.find(value_of(handle));
    if (entry == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    use.stream = entry->stream;
    use.context = call.machine.contexts.find(entry->context);
  }
  return static_cast<CUresult>(use.context->streams->fault);
}

EventEntry* find_event(Call& call, CUevent handle) {
  return call.machine.events.find(value_of(handle));
}

CUresult fault_of(Call& call, std::uint64_t context) {
  const Context* const found = call.machine.contexts.find(context);
  return found == nullptr ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                          : static_cast<CUresult>(found->streams->fault);
}

CUresult submit(Call& call, Submission submission) {
  StreamUse use;
  if (const CUresult result = find_stream(call, submission.stream, use); result != CUDA_SUCCESS)
    return result;
  return submit_on(call, use, std::move(submission));
}

CUresult submit_on(Call& call, const StreamUse& use, Submission submission, Ticket* queued) {
  assert(use.context != nullptr);
  Machine& machine = call.machine;
  if (const CUresult result = check_implicit(call, use); result != CUDA_SUCCESS) return result;
  make_part_of_operator(call.thread.operators, submission);
  if (CapturingStream* const in = capture_of(call, use))
    return capture_work(call, use, *in, std::move(submission));
  const std::uint64_t context = use.context->handle;
  const Wait wait = submission.wait;
  const bool watched_by_another = submission.in_anothers_time;
  if (wait != Wait::no) {
    if (const CUresult result = check_unsafe(call); result != CUDA_SUCCESS) return result;
  }
  Ticket reading;
  if (wait == Wait::until_read)
    reading = queue_on(call, use, take_reading(machine, submission)).ticket;
  const QueuedOperation operation = queue_on(call, use, std::move(submission));
  const Ticket& ticket = operation.ticket;
  if (queued != nullptr) *queued = ticket;
  machine.engine.progress(call.lock);
  if (operation.holds_caller) machine.engine.wait_in_time(call.lock, ticket);
  if (wait != Wait::no) {
    machine.engine.finish(call.lock, std::span(&ticket, 1));
    machine.engine.observe(reading ? reading->clock : ticket->clock);
    return fault_of(call, context);
  }
  watch_host_memory(machine, operation, !watched_by_another);
  return CUDA_SUCCESS;
}

QueuedOperation queue_on(Call& call, const StreamUse& use, Submission submission) {
  Machine& machine = call.machine;
  std::function<bool()> may_begin;
  if (submission.may_begin) {
    may_begin = [asked = std::move(submission.may_begin), device = use.context->device] {
      return asked(device);
    };
  }
  const OperationLoad load = load_of_submission(machine, submission, use.context->device);
  const auto kept = std::make_shared<KeptUntilRun>();
  const Ticket ticket = machine.engine.enqueue(
      *use.stream,
      [&machine, kept, work = std::move(submission.work), device = use.context->device] {
        if (const CUresult gone = check_host_memory(machine, *kept); gone != CUDA_SUCCESS)
          return gone;
        check_unplaced(machine, *kept);
        if (!kept->copies) return work(device);
        kept->copies->before_work(machine);
        const CUresult result = work(device);
        kept->copies->after_work(machine, result == CUDA_SUCCESS);
        return result;
      },
      submission.after, std::move(may_begin), load.load);
  if (submission.reason) {
    ticket->reason = [asked = std::move(submission.reason), device = use.context->device] {
      return asked(device);
    };
  }
  machine.engine.watching().note_use(*ticket,
                                     [&] { return host_use_of(machine, call.site, submission); });
  kept->who = toucher_of(call, *ticket, submission);
  kept->copies = CopyNotes::take(call, submission, use.context->device, ticket);
  if (ticket->behind_condition) {
    kept->unplaced = submission.touches;
  } else {
    kept->sole_destinations = find_sole_destinations(machine, submission);
    machine.hazards.note(kept->who, submission.touches, ticket->clock, machine.engine.seen());
  }
  return {ticket, kept, std::move(submission.touches), load.holds_caller};
}

void watch_host_memory(Machine& machine, const QueuedOperation& queued, bool and_contents) {
  if (queued.ticket->done || !machine.physical.with_data()) return;
  std::ranges::copy_if(queued.touches, std::back_inserter(queued.kept->host_memory),
                       [&](const Touch& touch) { return is_host_memory(machine, touch); });
  if (and_contents) remember_contents(machine, queued);
}

CUresult finish_context(Call& call, const Context& context) {
  if (const CUresult result = check_not_capturing(call, context); result != CUDA_SUCCESS)
    return result;
  const std::uint64_t handle = context.handle;
  const Clock waited_for = StreamEngine::clock_of(*context.streams);
  call.machine.engine.finish(call.lock, *context.streams);
  call.machine.engine.observe(waited_for);
  call.machine.pools.release_unused();
  return fault_of(call, handle);
}

}  // namespace ferry::sim
