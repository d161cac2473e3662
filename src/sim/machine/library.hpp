// SPDX-License-Identifier: Apache-2.0
// The one state of the loaded library, and the gate that every exported function passes: is the
// driver usable in this process, must this call fail, is there a current context. Never destroyed:
// programs call the driver from static destructors too.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sim/machine/attendance.hpp"
#include "sim/machine/call_book.hpp"
#include "sim/machine/call_charge.hpp"
#include "sim/machine/call_turn.hpp"
#include "sim/machine/kernels.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/thread_state.hpp"
#include "sim/order/watching.hpp"
#include "sim/traffic/traffic_log.hpp"
#include "sim/words/call_site.hpp"
#include "sim/words/cuda_api.hpp"
#include "sim/words/driver_log.hpp"
#include "sim/words/settings.hpp"
#include "sim/words/symbols.hpp"

namespace ferry::sim {

// What a function asks for before it does anything.
enum class Need : std::uint8_t {
  initialised,  // cuInit was called
  no_fault,     // and the current context, if there is one, is not poisoned
  context,      // and there is a current context
};

// A call that passed the gate. Holds the library's lock for its duration.
struct Call {
  Lock& lock;
  Machine& machine;
  ThreadState& thread;
  Context* context =
      nullptr;  // the current one; null where there is none (never under Need::context)
  CUresult no_context = CUDA_ERROR_INVALID_CONTEXT;  // why there is none
  const void* site = nullptr;                        // where the program makes it (call_site.hpp)
};

class Library {
 public:
  [[nodiscard]] static Library& get();

  // Runs body(Call&) behind the gate. Nothing thrown passes into the program. `bytes`: what the
  // call asks for, where that is memory or addresses; faults may have a budget.
  template <typename Body>
  CUresult call(Symbol symbol, Need need, Body&& body, std::uint64_t bytes = 0) noexcept;

  // For the few functions that work before cuInit: counts the call; what it must fail with, or
  // success.
  [[nodiscard]] CUresult note(Symbol symbol) noexcept;

  CUresult init(unsigned flags);

  // The controls of include/ferry/sim.h.
  bool configure(std::string_view text);
  [[nodiscard]] const char* settings_error() const { return settings_error_.c_str(); }
  bool reset(std::string_view text);
  bool fail_nth(std::string_view function, std::uint64_t nth, int result);
  std::uint64_t calls(std::string_view function);
  std::uint64_t cost(std::string_view function);
  // Hazards since the last take; they no longer count for the exit status.
  std::uint64_t take_hazards();
  // A node of the modelled host on which the calling thread takes memory from now on; -1: on that
  // of the device.
  bool set_thread_node(int node);
  bool register_kernel(const ferry_sim_kernel& kernel);
  // Requires the lock.
  [[nodiscard]] const Kernels& kernels() const { return kernels_; }
  [[nodiscard]] TrafficLog& traffic() { return traffic_; }
  template <typename Use>
  void with_machine(Use&& use);  // use(Lock&, Machine&), where the driver is initialised

 private:
  Library();

  [[nodiscard]] CUresult enter(Symbol symbol, Lock& lock, ThreadState& thread, std::uint64_t bytes);
  [[nodiscard]] CUresult admit(Symbol symbol, Need need, Call& call);
  void note_wait(Symbol symbol, const Call& call) {
    if (traffic_.is_on() && waits_for_device(symbol))
      traffic_.add_wait(row_of(symbol).name, {call.thread.operators.current(), call.site});
  }
  // The calling thread's current context; null where there is none, or where it is gone.
  [[nodiscard]] Context* current_context(ThreadState& thread);
  [[nodiscard]] Machine& machine();
  // Work that may have to go on while the program calls nothing: what other processes wait for, and
  // see attendance.hpp. It runs on a thread of its own, which lasts as long as there is any. Where
  // threads take turns, only while nobody has one.
  void attend();
  [[nodiscard]] bool needs_attendance();
  // When to look again; nothing where that is needed no more.
  [[nodiscard]] std::optional<std::chrono::milliseconds> attend_once() noexcept;
  // Whether to look again soon.
  [[nodiscard]] bool go_on_in_silence(Lock& lock);
  [[nodiscard]] Attendance::Verdict judge_silence(Lock& lock);
  // Null where threads do not take turns, or cuInit was not called.
  [[nodiscard]] Machine* machine_of_turns();
  void keep_traffic_log();
  void guard_forks();
  void guard_exit();
  // The settings that a text asks for over others, and the profile they name. The error is a
  // sentence.
  struct Wanted {
    Settings settings;
    std::shared_ptr<const Profile> profile;  // null where none is named
  };
  [[nodiscard]] static Result<Wanted, std::string> understand(const Settings& base,
                                                              std::string_view text);
  void take(Wanted wanted);

  std::mutex mutex_;
  std::atomic<bool> initialised_ = false;
  std::atomic<bool> forked_ = false;         // in the child of a process that had called cuInit
  std::atomic<bool> deinitialized_ = false;  // the process ends, and the settings want it so
  bool exit_guarded_ = false;
  bool attended_ = false;   // the thread of attend() is there
  bool attending_ = false;  // and at work: the machine stays, though the lock is let go
  std::condition_variable attending_over_;
  bool ending_ = false;           // the program has called exit
  std::uint64_t calls_made_ = 0;  // by the program
  Attendance attendance_;
  Settings settings_;
  std::shared_ptr<const Profile> profile_;
  std::string settings_error_;  // of FERRY_SIM; empty when it was understood
  CallBook book_;
  HazardLog hazard_log_;
  TrafficLog traffic_;
  Kernels kernels_;
  std::unique_ptr<Machine> machine_;
  std::uint64_t generation_ = 1;  // counts resets
};

template <typename Body>
CUresult Library::call(Symbol symbol, Need need, Body&& body, std::uint64_t bytes) noexcept {
  const Quiet quiet;
  if (forked_.load(std::memory_order_relaxed)) return CUDA_ERROR_NOT_INITIALIZED;
  if (deinitialized_.load(std::memory_order_relaxed)) return CUDA_ERROR_DEINITIALIZED;
  ThreadState& thread = ThreadState::mine();
  if (thread.in_host_function) return CUDA_ERROR_NOT_PERMITTED;
  const LogDelivery delivery;
  try {
    Lock lock(mutex_);
    const CallTurn turn(machine_of_turns(), lock, symbol);
    if (turn.refused()) return CUDA_ERROR_NOT_PERMITTED;
    if (const CUresult refused = enter(symbol, lock, thread, bytes); refused != CUDA_SUCCESS)
      return refused;
    const CallCharge charge(*machine_, book_, symbol);
    Call call{lock, *machine_, thread};
    call.site = find_call_site(__builtin_frame_address(0));
    if (const CUresult refused = admit(symbol, need, call); refused != CUDA_SUCCESS) return refused;
    note_wait(symbol, call);
    const CUresult result = body(call);
    attend();
    return result;
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::length_error&) {  // more than any memory holds
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
}

template <typename Use>
void Library::with_machine(Use&& use) {
  const Quiet quiet;
  if (forked_.load(std::memory_order_relaxed)) return;
  Lock lock(mutex_);
  if (!initialised_) return;
  ++calls_made_;
  use(lock, machine());
  attend();
}

}  // namespace ferry::sim
