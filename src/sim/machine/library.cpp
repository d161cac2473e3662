// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/library.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "sim/hazards/exit_status.hpp"
#include "sim/machine/capture_access.hpp"
#include "sim/machine/capture_rules.hpp"
#include "sim/machine/own_kernels.hpp"
#include "sim/time/profile_reader.hpp"
#include "sim/words/error_text.hpp"
#include "sim/words/program_threads.hpp"
#include "sim/words/say_once.hpp"
#include "sim/words/visible_devices.hpp"

namespace ferry::sim {

namespace {

void complain(const char* source, const std::string& problem) {
  fmt::print(stderr, "ferry-sim: {}: {}\n", source, problem);
}

std::vector<int> visible_by_environment(const Settings& settings) {
  return visible_devices(std::getenv("CUDA_VISIBLE_DEVICES"), settings.devices);
}

// Outside the lock: other threads go on meanwhile.
void stand_still(Lock& lock, const Verdict& verdict) {
  if (verdict.stall.count() == 0) return;
  lock.unlock();
  std::this_thread::sleep_for(verdict.stall);
  lock.lock();
}

}  // namespace

Library& Library::get() {
  static Library* const library = new Library();
  return *library;
}

Library::Library() {
  guard_forks();
  watch_exit_status(hazard_log_);
  for (const ferry_sim_kernel& kernel : own_kernels()) static_cast<void>(kernels_.add(kernel));
  keep_traffic_log();
  const char* const text = std::getenv("FERRY_SIM");
  if (text == nullptr) return;
  Result<Wanted, std::string> wanted = understand(Settings{}, text);
  if (wanted.ok()) {
    take(std::move(*wanted));
  } else {
    settings_error_ = wanted.error();
  }
}

// FERRY_SIM_TRAFFIC: a folder, in which each process has its own file.
void Library::keep_traffic_log() {
  const char* const folder = std::getenv("FERRY_SIM_TRAFFIC");
  if (folder != nullptr) traffic_.keep_in(fmt::format("{}/{}.jsonl", folder, getpid()));
}

// The lock is taken across the fork, so that the child does not inherit it locked by a thread that
// it does not have. A child of a process that used the driver may not use it any more.
void Library::guard_forks() {
  pthread_atfork([] { get().mutex_.lock(); }, [] { get().mutex_.unlock(); },
                 [] {
                   Library& library = get();
                   library.forked_ = library.initialised_.load();
                   library.attending_ = false;
                   library.traffic_.leave();
                   if (library.machine_) library.machine_->foreign_waits.leave();
                   library.mutex_.unlock();
                 });
}

// As a driver tidies up: its end is that of the first cuInit's turn among the handlers of exit.
void Library::guard_exit() {
  if (exit_guarded_) return;
  exit_guarded_ = true;
  const int error = std::atexit([] {
    const Quiet quiet;
    Library& library = get();
    const Lock lock(library.mutex_);
    library.ending_ = true;
    library.traffic_.end();
    library.deinitialized_ = library.settings_.deinitialized_at_exit;
  });
  if (error != 0) complain("cuInit", "no handler of the process's end can be set up");
}

bool Library::needs_attendance() {
  if (deinitialized_.load(std::memory_order_relaxed) || machine_ == nullptr) return false;
  machine_->foreign_waits.forget_reached();
  if (machine_->foreign_waits.any()) return true;
  return !ending_ && machine_->engine.has_pending();
}

void Library::attend() {
  if (attended_ || !needs_attendance()) return;
  try {
    std::thread([this] {
      while (const auto pause = attend_once()) std::this_thread::sleep_for(*pause);
    }).detach();
    attended_ = true;
  } catch (const std::system_error&) {
    say_once("no thread can be had for work that goes on while the program calls nothing");
  }
}

std::optional<std::chrono::milliseconds> Library::attend_once() noexcept {
  constexpr std::chrono::milliseconds kSoon{1};
  constexpr std::chrono::milliseconds kLater{10};
  const Quiet quiet;
  Lock lock(mutex_);
  attended_ = needs_attendance();
  if (!attended_) return std::nullopt;
  attending_ = true;
  bool went_on = false;
  try {
    machine_->foreign_waits.serve(lock, machine_->engine);
    went_on = go_on_in_silence(lock);
  } catch (const std::bad_alloc&) {
    // The next turn may have more luck.
  }
  attending_ = false;
  attending_over_.notify_all();
  return went_on || machine_->foreign_waits.any() ? kSoon : kLater;
}

bool Library::go_on_in_silence(Lock& lock) {
  switch (judge_silence(lock)) {
    case Attendance::Verdict::leave:
      return false;
    case Attendance::Verdict::run_host_code:
      static_cast<void>(machine_->engine.go_on_to_host_code(lock));
      return false;  // the program has time to answer
    case Attendance::Verdict::run_any:
      return machine_->engine.go_on(lock);
  }
  return false;
}

// Looks at the program's threads without the lock: one that waits for the lock would seem to wait
// for the device.
Attendance::Verdict Library::judge_silence(Lock& lock) {
  if (ending_ || machine_->engine.turns().somebody_has_turn()) return Attendance::Verdict::leave;
  const std::uint64_t calls = calls_made_;
  const bool host_code_waits = machine_->engine.waiting_host_functions() > 0;
  lock.unlock();
  const Attendance::Verdict verdict =
      attendance_.look(std::chrono::steady_clock::now(), calls, host_code_waits, others_all_wait);
  lock.lock();
  const bool is_still_so = calls == calls_made_ && !machine_->engine.turns().somebody_has_turn();
  return is_still_so ? verdict : Attendance::Verdict::leave;
}

CUresult Library::note(Symbol symbol) noexcept {
  const Quiet quiet;
  if (forked_.load(std::memory_order_relaxed)) return CUDA_ERROR_NOT_INITIALIZED;
  Lock lock(mutex_);
  const Verdict verdict = book_.enter(symbol);
  stand_still(lock, verdict);
  return static_cast<CUresult>(verdict.result);
}

CUresult Library::init(unsigned flags) {
  const Quiet quiet;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (deinitialized_.load(std::memory_order_relaxed)) return CUDA_ERROR_DEINITIALIZED;
  const Lock lock(mutex_);
  if (!settings_error_.empty()) {
    complain("FERRY_SIM", settings_error_);
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (machine_) return CUDA_SUCCESS;
  if (visible_by_environment(settings_).empty()) return CUDA_ERROR_NO_DEVICE;
  guard_exit();
  initialised_ = true;
  return CUDA_SUCCESS;
}

// Built at the first use after cuInit or a reset, so that both may be followed by `configure`.
Machine& Library::machine() {
  if (!machine_) {
    machine_ = std::make_unique<Machine>(settings_, visible_by_environment(settings_), hazard_log_,
                                         profile_);
  }
  return *machine_;
}

Machine* Library::machine_of_turns() {
  return initialised_ && settings_.threads == Threads::turns ? &machine() : nullptr;
}

CUresult Library::enter(Symbol symbol, Lock& lock, ThreadState& thread, std::uint64_t bytes) {
  const Verdict verdict = book_.enter(symbol, bytes);
  stand_still(lock, verdict);
  if (initialised_) {
    for (const LostDevice& lost : book_.take_lost())
      machine().contexts.lose(lost.device, lost.result);
  }
  if (verdict.sticky && initialised_) {
    Context* const context = current_context(thread);
    if (context != nullptr && context->streams->fault == 0)
      context->streams->fault = verdict.result;
  }
  if (verdict.result != 0) return static_cast<CUresult>(verdict.result);
  if (!initialised_) return CUDA_ERROR_NOT_INITIALIZED;
  ++calls_made_;
  machine().foreign_waits.take_seen(machine().engine);
  machine().engine.progress(lock);
  return CUDA_SUCCESS;
}

Context* Library::current_context(ThreadState& thread) {
  if (thread.generation != generation_) {
    thread.contexts.clear();
    thread.host_node.reset();
    thread.generation = generation_;
  }
  return thread.contexts.empty() ? nullptr : machine().contexts.find(thread.contexts.back());
}

CUresult Library::admit(Symbol symbol, Need need, Call& call) {
  if (is_unsafe_in_capture(symbol)) {
    if (const CUresult refused = check_unsafe(call); refused != CUDA_SUCCESS) return refused;
  }
  call.context = current_context(call.thread);
  if (call.context == nullptr && !call.thread.contexts.empty())
    call.no_context = CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (call.context == nullptr) return need == Need::context ? call.no_context : CUDA_SUCCESS;
  if (need == Need::initialised) return CUDA_SUCCESS;
  return static_cast<CUresult>(call.context->streams->fault);
}

Result<Library::Wanted, std::string> Library::understand(const Settings& base,
                                                         std::string_view text) {
  Result<Settings, std::string> settings = apply_settings(base, text);
  if (!settings.ok()) return settings.error();
  Wanted wanted{std::move(*settings), nullptr};
  for (const LostDevice& lost : wanted.settings.lost) {
    if (lost.device >= wanted.settings.devices)
      return fmt::format("'lost={}' is not understood; expected a device below {}", lost.device,
                         wanted.settings.devices);
  }
  for (const EngineWindow& window : wanted.settings.engine_windows) {
    if (window.device.value_or(0) >= wanted.settings.devices)
      return fmt::format("'{}/' before an engine is not understood; expected a device below {}",
                         window.device.value_or(0), wanted.settings.devices);
  }
  if (wanted.settings.profile.empty()) {
    if (!wanted.settings.engine_windows.empty())
      return std::string("slow and stuck need a profile: without one there are no engines");
    if (wanted.settings.threads == Threads::turns)
      return std::string("threads=turns needs a profile: without one calls take no time");
    return wanted;
  }
  Result<Profile, std::string> profile = find_profile(wanted.settings.profile);
  if (!profile.ok()) return profile.error();
  wanted.profile = std::make_shared<const Profile>(std::move(*profile));
  return wanted;
}

void Library::take(Wanted wanted) {
  settings_ = std::move(wanted.settings);
  profile_ = std::move(wanted.profile);
  hazard_log_.set_mode(settings_.hazards);
  kernels_.skip_unknown(settings_.skips_unknown_kernels);
  for (const FaultRule& rule : settings_.faults) book_.add_rule(rule, settings_.seed);
  for (const LostDevice& lost : settings_.lost) book_.add_lost(lost);
}

bool Library::configure(std::string_view text) {
  const Quiet quiet;
  const Lock lock(mutex_);
  Settings base = settings_;
  base.faults.clear();
  base.lost.clear();
  Result<Wanted, std::string> wanted = understand(base, text);
  if (!wanted.ok()) {
    complain("ferry_sim_configure", wanted.error());
    return false;
  }
  const Settings& asked = wanted->settings;
  const bool other_machine =
      asked.devices != settings_.devices || asked.capacity != settings_.capacity ||
      asked.profile != settings_.profile || asked.threads != settings_.threads ||
      asked.with_data != settings_.with_data || !asked.limits.same_build(settings_.limits);
  if (machine_ && other_machine) {
    complain("ferry_sim_configure",
             "devices, capacity, profile, threads, data, vmm, granularity and rdma can only change "
             "before cuInit or after a reset");
    return false;
  }
  take(std::move(*wanted));
  if (machine_) {
    machine_->engine.set_schedule(settings_.schedule);
    machine_->engine.set_seed(settings_.seed);
    machine_->set_limits(settings_.limits);
    if (settings_.skips_unknown_kernels) machine_->physical.begin_all_as_zeros();
    machine_->engine.timeline().set_engine_windows(settings_.engine_windows);
  }
  return true;
}

bool Library::reset(std::string_view text) {
  if (ThreadState::mine().in_host_function) {
    complain("ferry_sim_reset", "a host function cannot reset the machine that runs it");
    return false;
  }
  const Quiet quiet;
  Lock lock(mutex_);
  Result<Wanted, std::string> wanted = understand(Settings{}, text);
  if (!wanted.ok()) {
    complain("ferry_sim_reset", wanted.error());
    return false;
  }
  attending_over_.wait(lock, [this] { return !attending_; });
  machine_.reset();
  ++generation_;
  book_ = CallBook();
  settings_error_.clear();
  take(std::move(*wanted));
  return true;
}

bool Library::fail_nth(std::string_view function, std::uint64_t nth, int result) {
  if (!is_function_name(function) || nth == 0 || result == 0 || !is_result(result)) return false;
  const Quiet quiet;
  const Lock lock(mutex_);
  FaultRule rule;
  rule.function = function;
  rule.when = Trigger::nth(nth);
  rule.result = result;
  book_.add_rule(rule);
  return true;
}

bool Library::register_kernel(const ferry_sim_kernel& kernel) {
  const Quiet quiet;
  const Lock lock(mutex_);
  return kernels_.add(kernel);
}

bool Library::set_thread_node(int node) {
  bool exists = false;
  with_machine([&](Lock&, Machine& machine) {
    exists = node >= -1 && node < machine.host_node_count();
    if (!exists) return;
    ThreadState& thread = ThreadState::mine();
    static_cast<void>(current_context(thread));  // forgets what it said of an earlier machine
    thread.host_node = node < 0 ? std::nullopt : std::optional<int>(node);
  });
  return exists;
}

std::uint64_t Library::take_hazards() {
  const Quiet quiet;
  const Lock lock(mutex_);
  return hazard_log_.take();
}

std::uint64_t Library::calls(std::string_view function) {
  const Quiet quiet;
  const Lock lock(mutex_);
  return book_.calls(function);
}

std::uint64_t Library::cost(std::string_view function) {
  const Quiet quiet;
  const Lock lock(mutex_);
  return book_.cost(function);
}

}  // namespace ferry::sim
