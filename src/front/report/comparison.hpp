// SPDX-License-Identifier: Apache-2.0
// What `ferry compare` found out: one program under several allocators. Plain values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"

namespace ferry::replay {

struct ComparedSample {
  std::uint64_t operators = 0;  // that had run
  Bytes tensors;                // what the program had in tensors
  Bytes in_use;                 // of the devices' memory
};

struct ComparedFigures {
  std::string torch;  // its version
  Bytes peak_allocated;
  Bytes peak_reserved;
  std::map<std::string, std::uint64_t> driver_calls;
  double driver_ms = 0;  // modelled
  std::vector<ComparedSample> samples;
};

struct ComparedRun {
  std::string allocator;                   // native, expandable, cudaMallocAsync, ferry
  int exit = 0;                            // 128 + the signal where one ended it
  std::optional<ComparedFigures> figures;  // nothing where the program used no CUDA through PyTorch
  std::optional<Bytes> min_capacity;       // the smallest that it completed with
  std::string error;                       // why it failed: the last line that it printed
};

struct Comparison {
  std::vector<std::string> program;  // and its arguments
  std::string gpu;                   // the profile's name
  Bytes capacity;                    // of a device; zero: the profile's
  Bytes reserve;                     // of that, what was taken away for what is not counted
  std::vector<ComparedRun> runs;
};

}  // namespace ferry::replay
