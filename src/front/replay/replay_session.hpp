// SPDX-License-Identifier: Apache-2.0
// Replays files: reads each, runs every device of it on a fresh machine, searches the smallest
// capacity where asked, times the pool's own code, and puts the figures together.
#pragma once

#include <functional>
#include <string>

#include "front/replay/capacity_search.hpp"
#include "front/replay/cost_table.hpp"
#include "front/replay/replay_engine.hpp"
#include "front/replay/replay_result.hpp"

namespace ferry::replay {

struct SessionOptions {
  const CostTable* costs = nullptr;
  CapacityOption capacity;
  std::uint32_t passes = 1;
  std::uint64_t audit_every = 0;
  std::string stand_in{};  // its settings, schedule and seed among them
  bool marks = true;       // false: the stand-in is set to forget what is written
  // Told what is being done, for people who wait; may be empty.
  std::function<void(const std::string&)> progress{};
};

class ReplaySession {
 public:
  // Requires: `driver` outlives the session and serves nobody else meanwhile.
  ReplaySession(const Driver& driver, SessionOptions options)
      : driver_(driver), options_(std::move(options)) {}

  // A file that cannot be read, or that this machine has too little memory for, is a result too.
  [[nodiscard]] FileResult replay_file(const std::string& path) const;
  [[nodiscard]] DeviceResult replay_device(const DeviceTrace& trace, const std::string& name) const;

 private:
  struct Job;
  void replay_into(FileResult& result) const;
  [[nodiscard]] ReplayOutcome run(const Job& job, std::optional<Bytes> capacity) const;
  [[nodiscard]] std::optional<Bytes> ample(const DeviceTrace& trace) const;
  void explain_host_memory(Device& device, ReplayOutcome& outcome) const;
  [[nodiscard]] ReplayOutcome search(const Job& job, DeviceResult& result) const;
  void time_pairs_of(const Job& job, DeviceResult& result) const;
  void adopt(ReplayOutcome outcome, DeviceResult& result) const;
  void report_progress(const std::string& text) const;

  const Driver& driver_;
  const SessionOptions options_;
};

// Index of the device that stands for all: one that failed, else the one with the worst ratio of
// peak reserved to peak live; the first of equals. 0 when there is none.
[[nodiscard]] std::size_t worst_device(const std::vector<DeviceResult>& devices);

// "name" of "some/folder/name".
[[nodiscard]] std::string file_name(const std::string& path);

}  // namespace ferry::replay
