// SPDX-License-Identifier: Apache-2.0
// One run of a program under one of PyTorch's allocators or Ferry, in a child process on the
// stand-in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "front/cli/stand_in_program.hpp"
#include "front/report/comparison.hpp"

namespace ferry::cli {

inline constexpr std::string_view kAllocators[] = {"native", "expandable", "cudaMallocAsync",
                                                   "ferry"};

// The value of PYTORCH_CUDA_ALLOC_CONF for an allocator, with those of the user's keys that do not
// choose one themselves.
[[nodiscard]] std::string allocator_settings(std::string_view allocator, std::string_view users);

struct RunRequest {
  StandInProgram program;
  std::string allocator;
  bool shows_output = false;  // the program's own; otherwise it is kept back
  std::string snapshot;       // a file for PyTorch's recorded events; empty: none
};

// Runs it to its end. A sentence where that could not be begun.
[[nodiscard]] std::optional<std::string> run_compared(const RunRequest& request,
                                                      replay::ComparedRun& run);

// What the child wrote; nothing where it used no CUDA, or the text is none of ours.
[[nodiscard]] std::optional<replay::ComparedFigures> read_figures(std::string_view text);

}  // namespace ferry::cli
