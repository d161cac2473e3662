// SPDX-License-Identifier: Apache-2.0
// What an image declares: its kernels, and its variables with their sizes and first values. Read
// from PTX text and from the table of symbols of a cubin, in a fatbin from the first of its entries
// that can be read: they are the same code for several devices. What nvcc compressed cannot be
// read; by default that is PTX beside a cubin, which is there to be read. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/words/kernel_image.hpp"

namespace ferry::sim {

struct ImageVariable {
  std::string name;
  std::uint64_t bytes = 0;
  // What it holds at first; zeros where this ends.
  std::vector<std::byte> initial;
  // Some of it is not known and zero: the address of something, or an expression in PTX that is
  // none of constants.
  bool partly_unknown = false;
  bool managed = false;
};

struct ImageSymbols {
  std::vector<std::string> kernels;  // as they stand in the image
  std::vector<ImageVariable> variables;
  // What is wrong with PTX text, and in which line, where a driver would not take it. No compiler:
  // only what a reader of declarations sees.
  std::string fault;

  [[nodiscard]] bool has_kernel(std::string_view name) const;
  // Null where there is none.
  [[nodiscard]] const ImageVariable* find_variable(std::string_view name) const;
};

// Nothing where no part of the image can be read.
[[nodiscard]] std::optional<ImageSymbols> read_symbols(ImageBytes image);

}  // namespace ferry::sim
