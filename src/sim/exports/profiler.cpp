// SPDX-License-Identifier: Apache-2.0
// Exported: where a program wants a profiler to look. There is none.
#include "sim/machine/library.hpp"

using ferry::sim::Call;
using ferry::sim::Library;
using ferry::sim::Need;
using ferry::sim::Symbol;

CUresult cuProfilerStart() {
  return Library::get().call(Symbol::cuProfilerStart, Need::context,
                             [](Call&) { return CUDA_SUCCESS; });
}

CUresult cuProfilerStop() {
  return Library::get().call(Symbol::cuProfilerStop, Need::context,
                             [](Call&) { return CUDA_SUCCESS; });
}
