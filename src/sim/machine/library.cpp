// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/library.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

#include "sim/hazards/exit_status.hpp"
#include "sim/machine/own_kernels.hpp"
#include "sim/time/profile_reader.hpp"
#include "sim/words/error_text.hpp"
#include "sim/words/visible_devices.hpp"

namespace ferry::sim {

namespace {

void complain(const char* source, const std::string& problem) {
  fmt::print(stderr, "ferry-sim: {}: {}\n", source, problem);
}

std::vector<int> visible_by_environment(const Settings& settings) {
  return visible_devices(std::getenv("CUDA_VISIBLE_DEVICES"), settings.devices);
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
  const char* const text = std::getenv("FERRY_SIM");
  if (text == nullptr) return;
  Result<Wanted, std::string> wanted = understand(Settings{}, text);
  if (wanted.ok()) {
    take(std::move(*wanted));
  } else {
    settings_error_ = wanted.error();
  }
}

// The lock is taken across the fork, so that the child does not inherit it locked by a thread that
// it does not have. A child of a process that used the driver may not use it any more.
void Library::guard_forks() {
  pthread_atfork([] { get().mutex_.lock(); }, [] { get().mutex_.unlock(); },
                 [] {
                   Library& library = get();
                   library.forked_ = library.initialised_.load();
                   library.mutex_.unlock();
                 });
}

CUresult Library::note(Symbol symbol) noexcept {
  if (forked_.load(std::memory_order_relaxed)) return CUDA_ERROR_NOT_INITIALIZED;
  const Lock lock(mutex_);
  return static_cast<CUresult>(book_.enter(symbol));
}

CUresult Library::init(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock(mutex_);
  if (!settings_error_.empty()) {
    complain("FERRY_SIM", settings_error_);
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (machine_) return CUDA_SUCCESS;
  if (visible_by_environment(settings_).empty()) return CUDA_ERROR_NO_DEVICE;
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

CUresult Library::enter(Symbol symbol, Lock& lock) {
  const int fault = book_.enter(symbol);
  if (fault != 0) return static_cast<CUresult>(fault);
  if (!initialised_) return CUDA_ERROR_NOT_INITIALIZED;
  machine().engine.progress(lock);
  return CUDA_SUCCESS;
}

CUresult Library::admit(Need need, Call& call) {
  std::vector<std::uint64_t>& stack = call.thread.contexts;
  if (call.thread.generation != generation_) {
    stack.clear();
    call.thread.generation = generation_;
  }
  if (!stack.empty()) {
    call.context = call.machine.contexts.find(stack.back());
    if (call.context == nullptr) call.no_context = CUDA_ERROR_CONTEXT_IS_DESTROYED;
  }
  if (call.context == nullptr) return need == Need::context ? call.no_context : CUDA_SUCCESS;
  if (need == Need::initialised) return CUDA_SUCCESS;
  return static_cast<CUresult>(call.context->streams->fault);
}

Result<Library::Wanted, std::string> Library::understand(const Settings& base,
                                                         std::string_view text) {
  Result<Settings, std::string> settings = apply_settings(base, text);
  if (!settings.ok()) return settings.error();
  Wanted wanted{std::move(*settings), nullptr};
  if (wanted.settings.profile.empty()) return wanted;
  Result<Profile, std::string> profile = find_profile(wanted.settings.profile);
  if (!profile.ok()) return profile.error();
  wanted.profile = std::make_shared<const Profile>(std::move(*profile));
  return wanted;
}

void Library::take(Wanted wanted) {
  settings_ = std::move(wanted.settings);
  profile_ = std::move(wanted.profile);
  hazard_log_.set_mode(settings_.hazards);
  for (const FaultRule& rule : settings_.faults) book_.add_rule(rule);
}

bool Library::configure(std::string_view text) {
  const Lock lock(mutex_);
  Settings base = settings_;
  base.faults.clear();
  Result<Wanted, std::string> wanted = understand(base, text);
  if (!wanted.ok()) {
    complain("ferry_sim_configure", wanted.error());
    return false;
  }
  const Settings& asked = wanted->settings;
  const bool other_machine =
      asked.devices != settings_.devices || asked.capacity != settings_.capacity ||
      asked.profile != settings_.profile || asked.with_data != settings_.with_data;
  if (machine_ && other_machine) {
    complain("ferry_sim_configure",
             "devices, capacity, profile and data can only change before cuInit or after a reset");
    return false;
  }
  take(std::move(*wanted));
  if (machine_) {
    machine_->engine.set_schedule(settings_.schedule);
    machine_->engine.set_seed(settings_.seed);
  }
  return true;
}

bool Library::reset(std::string_view text) {
  const Lock lock(mutex_);
  Result<Wanted, std::string> wanted = understand(Settings{}, text);
  if (!wanted.ok()) {
    complain("ferry_sim_reset", wanted.error());
    return false;
  }
  machine_.reset();
  ++generation_;
  book_ = CallBook();
  settings_error_.clear();
  take(std::move(*wanted));
  return true;
}

bool Library::fail_nth(std::string_view function, std::uint64_t nth, int result) {
  if (!is_function_name(function) || nth == 0 || result == 0 || !is_result(result)) return false;
  const Lock lock(mutex_);
  book_.add_rule(FaultRule{std::string(function), nth, result});
  return true;
}

bool Library::register_kernel(const ferry_sim_kernel& kernel) {
  const Lock lock(mutex_);
  return kernels_.add(kernel);
}

std::uint64_t Library::take_hazards() {
  const Lock lock(mutex_);
  return hazard_log_.take();
}

std::uint64_t Library::calls(std::string_view function) {
  const Lock lock(mutex_);
  return book_.calls(function);
}

}  // namespace ferry::sim
