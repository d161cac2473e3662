// SPDX-License-Identifier: Apache-2.0
// The functions of the stand-in as data: one row per exported variant, expanded from the symbol
// table. Calls are counted per row; people name functions by their base name ("cuMemAlloc").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ferry::sim {

#define FERRY_SIM_ENUMERATOR(name, version, symbol) symbol,
#define FERRY_CUDA_REQUIRED FERRY_SIM_ENUMERATOR
#define FERRY_CUDA_OPTIONAL FERRY_SIM_ENUMERATOR
#define FERRY_CUDA_EXPORTED FERRY_SIM_ENUMERATOR
#define FERRY_CUDA_PER_THREAD(name, version, symbol, suffix) symbol,
enum class Symbol : std::uint16_t {
#include "abi/cuda_symbols.inc"
  count,
};
#undef FERRY_SIM_ENUMERATOR

struct SymbolRow {
  std::string_view name;      // base name, as cuGetProcAddress is asked for it
  int version = 0;            // the CUDA version that introduced this variant
  std::string_view elf_name;  // the name it is exported under
  // A null stream is the calling thread's own. Functions without streams have no such variant.
  bool per_thread = false;
};

#define FERRY_SIM_ROW(name, version, symbol) SymbolRow{#name, version, #symbol, false},
#define FERRY_CUDA_REQUIRED FERRY_SIM_ROW
#define FERRY_CUDA_OPTIONAL FERRY_SIM_ROW
#define FERRY_CUDA_EXPORTED FERRY_SIM_ROW
#define FERRY_CUDA_PER_THREAD(name, version, symbol, suffix) \
  SymbolRow{#name, version, #symbol, true},
inline constexpr std::array<SymbolRow, static_cast<std::size_t>(Symbol::count)> kSymbols{{
#include "abi/cuda_symbols.inc"
}};
#undef FERRY_SIM_ROW

[[nodiscard]] constexpr const SymbolRow& row_of(Symbol symbol) {
  return kSymbols[static_cast<std::size_t>(symbol)];
}

// Functions by which a program waits for the device and does nothing else.
[[nodiscard]] constexpr bool waits_for_device(Symbol symbol) {
  const std::string_view name = row_of(symbol).name;
  return name == "cuStreamSynchronize" || name == "cuEventSynchronize" ||
         name == "cuCtxSynchronize";
}

// True when `name` is the base name of an exported function.
[[nodiscard]] constexpr bool is_function_name(std::string_view name) {
  for (const SymbolRow& row : kSymbols) {
    if (row.name == name) return true;
  }
  return false;
}

}  // namespace ferry::sim
