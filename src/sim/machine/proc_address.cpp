// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/proc_address.hpp"

#include <array>
#include <cstddef>
#include <type_traits>

#include "sim/machine/stubs.hpp"
#include "sim/words/symbols.hpp"

namespace ferry::sim {

namespace {

#define FERRY_SIM_CHECK(name, version, symbol) FERRY_SIM_CHECK_TYPE(symbol, PFN_##name##_v##version)
#define FERRY_SIM_CHECK_TYPE(symbol, type) \
  static_assert(std::is_same_v<decltype(&::symbol), type>, #symbol " is not a " #type);
#define FERRY_CUDA_REQUIRED FERRY_SIM_CHECK
#define FERRY_CUDA_OPTIONAL FERRY_SIM_CHECK
#define FERRY_CUDA_EXPORTED FERRY_SIM_CHECK
#define FERRY_CUDA_PER_THREAD(name, version, symbol, suffix) \
  FERRY_SIM_CHECK_TYPE(symbol, PFN_##name##_v##version##suffix)
#include "abi/cuda_symbols.inc"
#undef FERRY_SIM_CHECK
#undef FERRY_SIM_CHECK_TYPE

#define FERRY_SIM_ADDRESS(name, version, symbol) reinterpret_cast<void*>(&::symbol),
#define FERRY_CUDA_REQUIRED FERRY_SIM_ADDRESS
#define FERRY_CUDA_OPTIONAL FERRY_SIM_ADDRESS
#define FERRY_CUDA_EXPORTED FERRY_SIM_ADDRESS
#define FERRY_CUDA_PER_THREAD(name, version, symbol, suffix) reinterpret_cast<void*>(&::symbol),
const std::array<void*, kSymbols.size()> kAddresses{
#include "abi/cuda_symbols.inc"
};
#undef FERRY_SIM_ADDRESS

// Calls visit(row, address) for every function that is exported.
template <typename Visit>
void visit_functions(Visit&& visit) {
  for (std::size_t i = 0; i < kSymbols.size(); ++i) visit(kSymbols[i], kAddresses[i]);
  for (const Stub& stub : stubs()) visit(stub.row, stub.function);
}

bool has_per_thread_variant(std::string_view name) {
  bool found = false;
  visit_functions(
      [&](const SymbolRow& row, void*) { found |= row.per_thread && row.name == name; });
  return found;
}

}  // namespace

ProcAddress proc_address(std::string_view name, int version, bool per_thread) {
  // From that version on, cuda.h gives the name to another function.
  if (name == "cuGraphInstantiate" && version >= 12000) name = "cuGraphInstantiateWithFlags";
  ProcAddress found;
  int newest = 0;
  const bool wants_per_thread = per_thread && has_per_thread_variant(name);
  visit_functions([&](const SymbolRow& row, void* function) {
    if (row.name != name || row.per_thread != wants_per_thread) return;
    if (row.version > version) {
      if (found.function == nullptr) found.status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    } else if (row.version > newest) {
      newest = row.version;
      found = {function, CU_GET_PROC_ADDRESS_SUCCESS};
    }
  });
  return found;
}

}  // namespace ferry::sim
