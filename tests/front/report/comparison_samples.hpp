// SPDX-License-Identifier: Apache-2.0
// A comparison of two runs, one of which failed.
#pragma once

#include "front/report/comparison.hpp"

namespace ferry::testing_report {

inline replay::Comparison comparison() {
  replay::ComparedFigures figures{"2.15.0", 1536_MiB, 2_GiB, {{"cuMemAlloc", 5}, {"cuMemFree", 2}},
                                  0.25,     {}};
  figures.samples = {{1, 1_GiB, 1_GiB}, {50, 1536_MiB, 2_GiB}, {100, 1_GiB, 2_GiB}};
  replay::ComparedRun native{"native", 0, figures, 1792_MiB, ""};
  replay::ComparedRun ferry{"ferry", 1, std::nullopt, std::nullopt, "OutOfMemoryError: no"};
  return {{"python", "train.py"}, "h200-pcie5", 24_GiB, {}, {native, ferry}};
}

}  // namespace ferry::testing_report
