// SPDX-License-Identifier: Apache-2.0
// The simulated machine: devices, memory, contexts, streams and events of one process. Owned by the
// library; every use requires the library's lock. A reset makes a new one.
//
// FAULT MODEL
//
// What it simulates, so that a wrong program fails here as it would (or might) on a GPU:
// - Order. Work runs in any order that streams, events, the legacy default stream and synchronising
//   calls allow, and no other. Under `lazy` it runs as late as possible: a missing wait becomes
//   wrong bytes.
// - Hazards. Accesses to the same bytes that nothing orders are reported under every schedule, also
//   where the bytes came out right (HazardChecker); so is a copy's host memory that the program
//   changed, or unmapped, before the copy ran (HostContents).
// - Asynchrony. Async copies read and write host memory when they run, pageable or not. Fills and
//   device-to-device copies are asynchronous even by their plain names. Other copies by plain names
//   are complete on return, save those from pageable memory to a device: of these the source has
//   been read, and what comes later in the stream finds the bytes; other streams need a wait.
// - Device memory that the host cannot touch, that holds no defined bytes before it is written
//   (they read as 0xA5; as 0 with kernels=skipped), and whose addresses are not given out again
//   soon after they were freed.
// - The rules of virtual memory management. Access to what is not mapped, not allowed, freed, or
//   past the end of an allocation gives CUDA_ERROR_ILLEGAL_ADDRESS when the work runs, and poisons
//   its context.
// - Limits: capacity per device, those of other machines (MachineLimits), a forked child that may
//   not use the driver.
// - Failures on request: of calls by rule (FaultRule), lost devices, calls that stand still, slow
//   or stuck engines (EngineWindow), a driver that ends before the program does, addresses and
//   handles that are given out again at once.
// - Batches: their members run in an order that the program cannot rely on, and overlapping ones
//   are reported.
// - Peers: plain memory of another device can be used once access was enabled, and by copies, which
//   the driver makes through the host otherwise; other work meets CUDA_ERROR_ILLEGAL_ADDRESS.
//
// Choices where cuda.h leaves room:
// - Memory that was imported is accounted for by the process that made it alone. A handle of
//   cuIpcGetMemHandle stands for one allocation, not for its neighbours in physical memory too. To
//   open a handle in the process that made it gives CUDA_ERROR_INVALID_CONTEXT.
// - Memory of a pool that may be shared goes back to the device with the pool alone, as it does on
//   the real driver today. Every import of an allocation has an address of its own; one that its
//   pool has freed, be it in the order of a stream, can no longer be imported. Of one pool no more
//   than 4096 allocations can be exported at a time.
// - An event between processes is reached when the process that recorded it has run the work before
//   it: when it needs that work itself, or when another process waits or keeps asking, on a thread
//   that lives while such records are open. To its waiters it comes after all that had run there.
// - The bytes of a plain copy from pageable memory are there on return, whatever the schedule: a
//   stream that relies on it is named as a hazard, but reads the right bytes. No call by which the
//   host takes the memory away comes before them.
// - A copy between devices takes the same time with and without peer access. Of pools and virtual
//   memory it reaches only what the device has access to.
// - A stream that waits for a value in memory comes after the operation that wrote it
//   (cuStreamWriteValue); where other work or the host wrote it, after all that had run by then.
//   What is queued behind such a wait is checked for hazards when it runs.
// - Which calls are "potentially unsafe" while a stream captures: see capture_rules.hpp. An event
//   that was last recorded in a capture stays unusable after the capture's end
//   (CUDA_ERROR_CAPTURED_EVENT) until it is recorded again. To end a capture in another stream
//   makes it invalid; to end it in another thread does not. A stream that is destroyed takes its
//   capture with it. A batch of memory words becomes one node for each.
// - An update of an executable graph pairs nodes in the order in which they were added.
// - Managed memory is host memory that does not move.
// - cuMemFree finishes the work of the context that owns the memory first, cuMemFreeHost and
//   cuMemHostUnregister that of all contexts: the real driver synchronises there today, although
//   cuda.h does not promise it. To the hazard checker none of these waits. cuMemUnmap and
//   cuMemRelease wait for nothing.
// - Memory of pools has a new address at each allocation, whatever memory it takes over; what it
//   held before the free is gone. A pool never waits for work to make room: it answers out of
//   memory where only the host's waiting would help. When the last context of a device ends, so
//   does the memory of the device's pools.
// - A query that finds work unfinished lets a little of it happen under `lazy` (see
//   StreamEngine::poll). Under `random` any call may let some work happen.
//
// What it CANNOT show:
// - Races between a host thread and a running copy: work runs inside calls, under one lock. Two
//   operations never overlap; they only change places. What the host itself reads or writes is not
//   seen, save for what HostContents notices.
// - A host function runs on the thread whose call made it necessary, under `eager` and `random`
//   also on the one that queues it. A program that holds a lock over a call of the driver and takes
//   the same lock in a host function stands still here; a real driver has a thread of its own, and
//   so has this one only where the program calls nothing (attendance.hpp).
// - How fast a GPU is. Time is modelled: from the figures of a profile (src/sim/time), or, without
//   one, at one microsecond for each operation. It follows from the order of the program's calls.
//   Host code between calls takes no time unless it says so (ferry_sim_host_work); threads that
//   hand over to each other outside the driver do not carry their clocks along, save where they
//   take turns (ferry_sim_thread_begin); kernels of one device run one after the other; a batch
//   begins when its call has queued it whole.
// - The code of kernels: a launch calls a function of the host that was registered under the
//   kernel's name, which works on copies of what it says it touches (launch.cpp).
// - Hazards between processes: each sees its own work alone. What one does wrong to the other's
//   memory is seen by its bytes.
// - Of graphs: not there yet are nodes that allocate and free memory, conditional ones, semaphores
// of other APIs, launches from the device, data of edges.
//   Functions that are not there at all are stubs (stubs.hpp).
// - Wrong bytes that only a weaker memory model, an engine's own reordering or ECC could produce.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/hazards/hazard_checker.hpp"
#include "sim/machine/captures.hpp"
#include "sim/machine/context.hpp"
#include "sim/machine/foreign_records.hpp"
#include "sim/machine/foreign_waits.hpp"
#include "sim/machine/graphs.hpp"
#include "sim/machine/memory_pools.hpp"
#include "sim/machine/modules.hpp"
#include "sim/machine/opened_memory.hpp"
#include "sim/machine/streams.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/memory/allocations.hpp"
#include "sim/memory/host_memory.hpp"
#include "sim/memory/host_views.hpp"
#include "sim/memory/memory_operations.hpp"
#include "sim/memory/page_table.hpp"
#include "sim/memory/physical_memory.hpp"
#include "sim/memory/virtual_memory.hpp"
#include "sim/order/stream_engine.hpp"
#include "sim/words/cuda_api.hpp"
#include "sim/words/settings.hpp"

namespace ferry::sim {

class Machine {
 public:
  // `visible`: the physical index of each device, by ordinal.
  // `log` outlives it. A profile also says how the devices answer, save for settings that do.
  Machine(const Settings& settings, std::vector<int> visible, HazardLog& log,
          std::shared_ptr<const Profile> profile = nullptr);

  [[nodiscard]] int devices() const { return static_cast<int>(visible.size()); }
  [[nodiscard]] bool has_device(int ordinal) const { return ordinal >= 0 && ordinal < devices(); }

  // What tells the device apart from the others of the machine, whichever are visible.
  [[nodiscard]] int physical_index(int ordinal) const {
    return visible[static_cast<std::size_t>(ordinal)];
  }
  // Nothing for an attribute that cuda.h does not know.
  [[nodiscard]] std::optional<int> attribute(CUdevice_attribute attribute, int ordinal);

  // Tells every part what it may no longer do.
  void set_limits(const MachineLimits& limits);
  [[nodiscard]] const MachineLimits& limits() const { return limits_; }

  // Null where none was chosen.
  [[nodiscard]] const Profile* profile() { return engine.timeline().profile(); }

  // The nodes of the modelled host's memory. Without a profile there is one.
  [[nodiscard]] int host_node_count() {
    return profile() == nullptr ? 1 : static_cast<int>(profile()->host_nodes.value);
  }

  // The one that a device is near to. Requires: a profile.
  [[nodiscard]] int host_node_near(int ordinal) {
    return host_node_of(*profile(), physical_index(ordinal));
  }

  // Runs what is queued in a context and gives back everything it owns but its handle. The context
  // has new, empty streams afterwards, or none when `ends`.
  void empty_context(Lock& lock, Context& context, bool ends);

  // Declared so that users of memory go before the memory itself.
  const std::vector<int> visible;
  AddressSpace addresses;
  PhysicalMemory physical;
  PageTable pages;
  HostMemory host;
  VirtualMemory virtual_memory;
  Allocations allocations;
  MemoryOperations operations;
  HostViews host_views;
  HazardChecker hazards;
  StreamEngine engine;
  Contexts contexts;
  Streams streams;
  Events events;
  Modules modules;
  Functions functions;
  LoadedLibraries libraries;
  LoadedKernels kernels;
  MemoryPools pools;
  OpenedMemory opened;
  ForeignWaits foreign_waits;
  ForeignRecords foreign_records;
  Graphs graphs;
  Captures captures;
  // Words that operations of streams have written, for those that wait for their values.
  struct WrittenWord {
    std::uint64_t value = 0;
    Clock clock;  // of the operation
  };
  std::map<std::uint64_t, WrittenWord> words;  // by address

 private:
  MachineLimits limits_;
};

}  // namespace ferry::sim
