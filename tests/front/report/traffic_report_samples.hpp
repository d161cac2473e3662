// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "front/report/traffic_report.hpp"
#include "front/traffic/traffic_samples.hpp"

namespace ferry::replay::testing_report {

inline TrafficReport traffic_report() {
  TrafficReport report{{"python", "train.py"}, "h200-pcie5", true, {}};
  report.processes.push_back(process_traffic(12, traffic::testing_traffic::two_micro_steps().read(),
                                             traffic::PhasesBy::phase, 0));
  return report;
}

}  // namespace ferry::replay::testing_report
