// SPDX-License-Identifier: Apache-2.0
// What `ferry sim run --traffic` says of a program's copies: as a table, as JSON, as a page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "front/traffic/traffic_account.hpp"
#include "front/traffic/traffic_findings.hpp"

namespace ferry::replay {

// One process of the program that copied something.
struct ProcessTraffic {
  std::uint64_t process = 0;  // its number in the system
  traffic::Records records;
  std::uint64_t parameters = 0;  // of the model; 0: not known
  std::vector<traffic::StepAccount> steps;
  traffic::Findings findings;  // of the typical step

  [[nodiscard]] const traffic::StepAccount& step() const { return traffic::typical_step(steps); }
};

struct TrafficReport {
  std::vector<std::string> program;  // and its arguments
  std::string gpu;                   // the profile's name; empty without one
  bool with_values = false;
  std::vector<ProcessTraffic> processes;
};

// `parameters`: as a person says; 0: as the program was found to have.
[[nodiscard]] ProcessTraffic process_traffic(std::uint64_t process, traffic::Records records,
                                             traffic::PhasesBy by, std::uint64_t parameters);

// "to device", "to host", ...
[[nodiscard]] std::string words_for(traffic::Way way);
// "aten::copy_ (train.py:8)".
[[nodiscard]] std::string words_for(const traffic::Caller& caller);
// A sentence for each thing that need not have moved; or why none could be looked for.
[[nodiscard]] std::vector<std::string> finding_sentences(const ProcessTraffic& process,
                                                         bool with_values);
// Bytes by parameters, "4.000"; "-" where their number is not known.
[[nodiscard]] std::string by_parameter(Bytes bytes, std::uint64_t parameters);

[[nodiscard]] std::string traffic_table(const TrafficReport& report);
[[nodiscard]] std::string traffic_json(const TrafficReport& report);
[[nodiscard]] std::string traffic_html(const TrafficReport& report);

}  // namespace ferry::replay
