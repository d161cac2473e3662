// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/proc_address.hpp"

#include <algorithm>
#include <array>

#include "sim/words/symbols.hpp"

namespace ferry::sim {

namespace {

#define FERRY_SIM_CHECK(name, version, symbol)                                \
  static_assert(std::is_same_v<decltype(&::symbol), PFN_##name##_v##version>, \
                #symbol " has not the signature of " #name " at version " #version);
#define FERRY_CUDA_REQUIRED FERRY_SIM_CHECK
#define FERRY_CUDA_OPTIONAL FERRY_SIM_CHECK
#define FERRY_CUDA_EXPORTED FERRY_SIM_CHECK
#include "abi/cuda_symbols.inc"
#undef FERRY_SIM_CHECK

#define FERRY_SIM_ADDRESS(name, version, symbol) reinterpret_cast<void*>(&::symbol),
#define FERRY_CUDA_REQUIRED FERRY_SIM_ADDRESS
#define FERRY_CUDA_OPTIONAL FERRY_SIM_ADDRESS
#define FERRY_CUDA_EXPORTED FERRY_SIM_ADDRESS
const std::array<void*, kSymbols.size()> kAddresses{
#include "abi/cuda_symbols.inc"
};
#undef FERRY_SIM_ADDRESS

// cudaTypedefs.h has no list of these either: it spells each variant out.
constexpr std::string_view kPerThread[] = {
    "cuMemcpy",
    "cuMemcpyAsync",
    "cuMemcpyHtoD",
    "cuMemcpyHtoDAsync",
    "cuMemcpyDtoH",
    "cuMemcpyDtoHAsync",
    "cuMemcpyDtoD",
    "cuMemcpyDtoDAsync",
    "cuMemcpy2DAsync",
    "cuMemsetD8",
    "cuMemsetD32",
    "cuMemsetD8Async",
    "cuMemsetD32Async",
    "cuMemsetD2D32Async",
    "cuStreamQuery",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
    "cuStreamGetPriority",
    "cuStreamGetFlags",
    "cuStreamGetCtx",
    "cuStreamIsCapturing",
    "cuLaunchHostFunc",
    "cuEventRecord",
};

}  // namespace

ProcAddress proc_address(std::string_view name, int version, bool per_thread) {
  ProcAddress found;
  if (per_thread && has_per_thread_variant(name)) return found;
  int newest = 0;
  for (std::size_t i = 0; i < kSymbols.size(); ++i) {
    const SymbolRow& row = kSymbols[i];
    if (row.name != name) continue;
    if (row.version > version) {
      if (found.function == nullptr) found.status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    } else if (row.version > newest) {
      newest = row.version;
      found = {kAddresses[i], CU_GET_PROC_ADDRESS_SUCCESS};
    }
  }
  return found;
}

bool has_per_thread_variant(std::string_view name) {
  return std::find(std::begin(kPerThread), std::end(kPerThread), name) != std::end(kPerThread);
}

}  // namespace ferry::sim
