// SPDX-License-Identifier: Apache-2.0
// Lets a process fail that had hazards and did not notice: where it would end with status 0, it
// ends with HazardLog::kExitStatus. Any other status stays. Also says what came more than once. Not
// for processes that end by _exit, by quick_exit or by a signal.
#pragma once

#include "sim/hazards/hazard_log.hpp"

namespace ferry::sim {

// To be called once. Requires: `log` lives to the end of the process.
void watch_exit_status(HazardLog& log);

}  // namespace ferry::sim
