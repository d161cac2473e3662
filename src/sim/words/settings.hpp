// SPDX-License-Identifier: Apache-2.0
// What a user may choose about the simulated machine, and the reader of the FERRY_SIM syntax:
//   "profile=h200-pcie5;devices=2;capacity=24GiB;data=none;schedule=random;seed=7;
//    fault=cuMemCreate@3:2"
// Pure data; knows nothing of the machine it configures.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/status.hpp"
#include "sim/words/engine_window.hpp"
#include "sim/words/fault_rule.hpp"
#include "sim/words/machine_limits.hpp"

namespace ferry::sim {

enum class Schedule : std::uint8_t {
  eager,   // queued work runs as soon as its dependencies allow
  lazy,    // queued work runs only when something waits for it
  random,  // at each call a random number of ready operations run, in an order drawn from the seed
};

// Which of the program's threads may use the driver at a time.
enum class Threads : std::uint8_t {
  free,   // all, as the system lets them go on
  turns,  // the one whose virtual clock is the smallest
};

// What happens when the hazard checker finds something.
enum class HazardMode : std::uint8_t { off, report, abort };

inline constexpr int kMaxDevices = 16;

struct Settings {
  int devices = 1;
  std::string profile;  // of the machine whose costs are modelled: a name or a path; may be empty
  Bytes capacity{std::uint64_t{1} << 40};  // bytes obtainable on each device
  bool capacity_given = false;             // otherwise a profile's counts
  bool with_data = true;                   // false: copies check and count, but move no bytes
  bool skips_unknown_kernels = false;      // true: they do nothing; false: they cannot be launched
  Schedule schedule = Schedule::eager;
  std::uint64_t seed = 0;
  Threads threads = Threads::free;
  HazardMode hazards = HazardMode::report;
  MachineLimits limits;
  std::vector<FaultRule> faults;
  std::vector<LostDevice> lost;
  std::vector<EngineWindow> engine_windows;
  bool deinitialized_at_exit = false;
};

// Applies `text` over `base`. A key stands in it once, but for those that add to lists; empty parts
// are ignored. The error names the part that is wrong, alone or beside others, and what would be
// valid.
[[nodiscard]] Result<Settings, std::string> apply_settings(const Settings& base,
                                                           std::string_view text);

}  // namespace ferry::sim
