// SPDX-License-Identifier: Apache-2.0
#include "front/replay/replay_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "ferry/sim.h"
#include "front/replay/pair_timer.hpp"
#include "front/replay/replay_machine.hpp"
#include "front/replay/stand_in_settings.hpp"
#include "front/replay/trace_streams.hpp"

namespace ferry::replay {

namespace {

// A check that failed is worse than memory that did not suffice, and both than any ratio.
int failure_of(const DeviceResult& device) {
  if (device.completed) return 0;
  return device.out_of_memory ? 1 : 2;
}

double ratio_of(const DeviceResult& device) {
  if (device.peak_live == Bytes{}) return device.peak_reserved == Bytes{} ? 0 : 1e300;
  return static_cast<double>(device.peak_reserved.count) /
         static_cast<double>(device.peak_live.count);
}

// What the stand-in's hazard checker has found since it was asked last.
std::uint64_t take_hazards(const Driver& driver) {
  const auto take =
      reinterpret_cast<ferry_sim_take_hazards_fn>(driver.find_symbol(FERRY_SIM_TAKE_HAZARDS));
  return take == nullptr ? 0 : take();
}

}  // namespace

struct ReplaySession::Job {
  const DeviceTrace& trace;
  std::string name;  // for progress
};

FileResult ReplaySession::replay_file(const std::string& path) const {
  FileResult result;
  result.name = file_name(path);
  result.path = path;
  try {
    replay_into(result);
  } catch (const std::bad_alloc&) {
    result.devices.clear();
    result.host_memory_exhausted = true;
    result.error = fmt::format(
        "{} could not be replayed: this machine's own memory is exhausted; the device's is not the "
        "cause.",
        path);
  }
  return result;
}

void ReplaySession::replay_into(FileResult& result) const {
  report_progress(fmt::format("{}: reading", result.name));
  Result<Trace, TraceError> trace = read_trace(result.path);
  if (!trace) {
    result.error = fmt::format("{} {}", result.path, trace.error().describe());
    result.nothing_to_replay = trace.error().nothing_to_replay;
    return;
  }
  result.format = trace->format;
  result.notes = trace->notes;
  for (const DeviceTrace& device : trace->devices) {
    const bool only = trace->devices.size() == 1;
    if (const std::size_t streams = count_streams(device); streams > TraceStreams::kMost) {
      result.notes.push_back(fmt::format("The {} streams of {} were replayed on {}.", streams,
                                         device_name(device.device), TraceStreams::kMost));
    }
    result.devices.push_back(replay_device(
        device,
        only ? result.name : fmt::format("{}, {}", result.name, device_name(device.device))));
  }
  result.worst_device = worst_device(result.devices);
}

DeviceResult ReplaySession::replay_device(const DeviceTrace& trace, const std::string& name) const {
  const Job job{trace, name};
  DeviceResult result;
  result.device = trace.device;
  result.events = trace.events.size();
  result.peak_live = trace.peak_live;
  result.recorded_peak_reserved = trace.recorded_peak_reserved;
  result.recorded_reserved = trace.recorded_reserved;
  switch (options_.capacity.kind) {
    case CapacityOption::Kind::unlimited:
      break;
    case CapacityOption::Kind::size:
    case CapacityOption::Kind::ratio:
      result.capacity = options_.capacity.bytes_for(trace.peak_live);
      break;
    case CapacityOption::Kind::minimum:
      adopt(search(job, result), result);
      if (result.completed) time_pairs_of(job, result);
      return result;
  }
  adopt(run(job, result.capacity), result);
  if (result.completed) time_pairs_of(job, result);
  return result;
}

// Without a limit the stand-in gets more than the trace can need; a real device has what it has.
std::optional<Bytes> ReplaySession::ample(const DeviceTrace& trace) const {
  constexpr Bytes kLeast{std::uint64_t{1} << 40};
  if (!driver_.is_stand_in()) return std::nullopt;
  return std::max(kLeast, trace.peak_live + trace.peak_live);
}

ReplayOutcome ReplaySession::run(const Job& job, std::optional<Bytes> capacity) const {
  Result<std::unique_ptr<ReplayMachine>, std::string> machine = ReplayMachine::open(
      driver_, {.stand_in = options_.stand_in, .capacity = capacity ? capacity : ample(job.trace)});
  if (!machine) {
    ReplayOutcome outcome;
    outcome.error = std::move(machine).error();
    return outcome;
  }
  ReplayedPool pool((*machine)->pool(), (*machine)->pool_device());
  const std::string within =
      capacity ? fmt::format(" within {}", format_bytes(*capacity)) : std::string();
  ReplayOptions options{.passes = options_.passes,
                        .audit_every = options_.audit_every,
                        .record_timeline = true,
                        .marks = options_.marks};
  if (options_.progress) {
    options.progress = [&](std::uint32_t pass, std::uint64_t event) {
      report_progress(fmt::format("{}{}: pass {} of {}, event {} of {}", job.name, within, pass,
                                  options_.passes, event, job.trace.events.size()));
    };
  }
  ReplayOutcome outcome = replay(job.trace, pool, (*machine)->tool_device(), options);
  if (outcome.out_of_memory && driver_.is_stand_in()) {
    explain_host_memory((*machine)->tool_device(), outcome);
  }
  if (const std::uint64_t hazards = take_hazards(driver_); hazards > 0) {
    outcome.completed = false;
    outcome.error = fmt::format(
        "the stand-in found {} {} to memory that nothing orders; standard error names them.",
        hazards, hazards == 1 ? "access" : "accesses");
  }
  return outcome;
}

// The stand-in keeps what programs see as device memory in the host's. Where the device has room
// for the request, it was the host that had none; unless a failure was set.
void ReplaySession::explain_host_memory(Device& device, ReplayOutcome& outcome) const {
  constexpr Bytes kRounding = 4_MiB;  // a request touches a page more at either end
  const Result<MemoryInfo> memory = device.memory_info();
  if (!memory || memory->free < outcome.refused + kRounding) return;
  if (options_.stand_in.find("fault") != std::string::npos) return;
  outcome.error = fmt::format(
      "this machine's own memory is exhausted, in which the stand-in keeps that of the device (a "
      "limit such as that of ulimit -v counts); {} of the device's are free.",
      format_bytes(memory->free));
}

// The outcome of the smallest capacity on which all passes completed, or of what went wrong.
ReplayOutcome ReplaySession::search(const Job& job, DeviceResult& result) const {
  ReplayOutcome best = run(job, std::nullopt);
  if (!best.completed) return best;
  const Bytes unlimited = best.peak_reserved;
  result.unlimited_peak_reserved = unlimited;
  if (unlimited == Bytes{}) {
    result.min_capacity = Bytes{};
    return best;
  }
  const auto completes_at = [&](Bytes capacity) -> Result<bool, std::string> {
    ReplayOutcome outcome = run(job, capacity);
    if (outcome.completed) {
      best = std::move(outcome);
      return true;
    }
    if (outcome.out_of_memory) return false;
    return fmt::format("with {}: {}", format_bytes(capacity), outcome.error);
  };
  const Result<Bytes, std::string> found =
      find_min_capacity(job.trace.peak_live, unlimited, completes_at);
  if (!found) {
    best.completed = false;
    best.error = found.error();
    return best;
  }
  // The search ends below the last capacity that completed, so `best` is the run at `found`.
  result.min_capacity = *found;
  result.capacity = *found;
  return best;
}

void ReplaySession::adopt(ReplayOutcome outcome, DeviceResult& result) const {
  result.completed = outcome.completed;
  result.out_of_memory = outcome.out_of_memory;
  result.error = std::move(outcome.error);
  result.peak_reserved = outcome.peak_reserved;
  result.passes = std::move(outcome.passes);
  for (PassResult& pass : result.passes) {
    pass.driver_ms = options_.costs->milliseconds(pass.calls);
  }
  result.timeline = std::move(outcome.timeline);
  result.marks = std::move(outcome.marks);
}

// With memory not short and nothing queued, whatever the replay itself ran under: the figure is
// that of the pool's code, not of a schedule. Where the device cannot hold the trace twice over
// there is no figure.
void ReplaySession::time_pairs_of(const Job& job, DeviceResult& result) const {
  report_progress(fmt::format("{}: timing", job.name));
  const std::string settings =
      with_setting(with_setting(options_.stand_in, "schedule", "eager"), "data", "none");
  Result<std::unique_ptr<ReplayMachine>, std::string> machine =
      ReplayMachine::open(driver_, {.stand_in = settings, .capacity = ample(job.trace)});
  if (!machine) return;
  Result<std::unique_ptr<TraceStreams>> streams =
      TraceStreams::open((*machine)->tool_device(), job.trace);
  if (!streams) return;
  const Result<PairTimes> times = time_pairs(job.trace, (*machine)->pool(), **streams);
  if (!times) return;
  result.pair_ns_p50 = times->p50;
  result.pair_ns_p99 = times->p99;
}

void ReplaySession::report_progress(const std::string& text) const {
  if (options_.progress) options_.progress(text);
}

std::size_t worst_device(const std::vector<DeviceResult>& devices) {
  const auto better = [](const DeviceResult& a, const DeviceResult& b) {
    return std::pair(failure_of(a), ratio_of(a)) < std::pair(failure_of(b), ratio_of(b));
  };
  return static_cast<std::size_t>(std::max_element(devices.begin(), devices.end(), better) -
                                  devices.begin());
}

std::string file_name(const std::string& path) {
  const std::size_t end = path.find_last_not_of('/');
  if (end == std::string::npos) return path;
  return path.substr(path.find_last_of('/', end) + 1);  // npos + 1 is 0
}

}  // namespace ferry::replay
