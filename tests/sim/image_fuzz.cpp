// SPDX-License-Identifier: Apache-2.0
// Any bytes as what a program loads as a module: PTX text, a cubin, a fatbin.
#include <algorithm>
#include <cstdlib>

#include "fuzz/fuzz_target.hpp"
#include "sim/words/image_symbols.hpp"
#include "sim/words/made_cubin.hpp"

namespace {

// What is read was there, and has no more values than bytes.
void check(const ferry::sim::ImageSymbols& symbols, std::string_view bytes) {
  const auto stands_there = [&](const std::string& name) {
    return !name.empty() && bytes.find(name) != std::string_view::npos;
  };
  if (!std::ranges::all_of(symbols.kernels, stands_there)) std::abort();
  for (const ferry::sim::ImageVariable& variable : symbols.variables) {
    if (!stands_there(variable.name) || variable.bytes == 0 ||
        variable.initial.size() > variable.bytes) {
      std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto image = ferry::sim::find_image_in(std::as_bytes(std::span(bytes)));
  if (!image) return 0;
  if (const auto symbols = ferry::sim::read_symbols(*image)) check(*symbols, bytes);
  return 0;
}

std::vector<std::string> ferry::fuzz::seeds() {
  const std::string ptx =
      ".version 8.0 // by hand\n.target sm_90\n.visible .entry scale(.param .u64 p) { ret; }\n"
      ".visible .global .align 4 .b8 table[2][3] = {{1, 2, 3}, {0x4, 05}};\n"
      ".global .f32 x = 1.5, y = 0f3F800000;\n.const .v4 .u16 z[] = {{1, 2}, -3};\n"
      ".managed .global .u64 there = generic(table);\n.extern .global .u8 far[0x10];\n"
      ".global .s64 sums[7] = {1+2*3, 1<<4, ~0, !0, -(3), (.u64) 5, 5==5?8:9 % 2};\n"
      ".global .f32 small[010] = {1.5e-3, 0d3FF8000000000000, 1.0/3.0};\n";
  return {ptx, sim::MadeCubin().file(), sim::MadeCubin(false).file()};
}
