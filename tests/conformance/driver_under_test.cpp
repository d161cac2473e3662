// SPDX-License-Identifier: Apache-2.0
#include "conformance/driver_under_test.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace ferry::conformance {

namespace {

Functions g_functions;

struct Row {
  const char* name;
  int version;
  bool required;
  cuuint64_t flags;
  void (*store)(void* address);
};

// Two macros and not one with a further argument: passed on, the names would be renamed by cuda.h's
// macros.
#define FERRY_CONFORMANCE_STORE(symbol)                                           \
  [](void* address) {                                                             \
    g_functions.symbol = reinterpret_cast<decltype(g_functions.symbol)>(address); \
  }
#define FERRY_CUDA_REQUIRED(name, version, symbol) \
  {#name, version, true, CU_GET_PROC_ADDRESS_DEFAULT, FERRY_CONFORMANCE_STORE(symbol)},
#define FERRY_CUDA_OPTIONAL(name, version, symbol) \
  {#name, version, false, CU_GET_PROC_ADDRESS_DEFAULT, FERRY_CONFORMANCE_STORE(symbol)},
#define FERRY_CUDA_EXPORTED(name, version, symbol) \
  {#name, version, false, CU_GET_PROC_ADDRESS_DEFAULT, FERRY_CONFORMANCE_STORE(symbol)},
#define FERRY_CUDA_PER_THREAD(name, version, symbol, suffix)             \
  {#name, version, false, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, \
   FERRY_CONFORMANCE_STORE(symbol)},
constexpr Row kRows[] = {
#include "abi/cuda_symbols.inc"
};
#undef FERRY_CONFORMANCE_STORE

}  // namespace

const Functions& cuda() {
  return g_functions;
}

Loaded load_driver(const std::string& library, std::string& why) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    why = dlerror();
    return Loaded::absent;
  }
  const auto get_address =
      reinterpret_cast<PFN_cuGetProcAddress_v12000>(dlsym(handle, "cuGetProcAddress_v2"));
  if (get_address == nullptr) {
    why = "the driver has no cuGetProcAddress_v2";
    return Loaded::broken;
  }
  for (const Row& row : kRows) {
    void* address = nullptr;
    CUdriverProcAddressQueryResult status{};
    const CUresult result = get_address(row.name, &address, row.version, row.flags, &status);
    if (result == CUDA_SUCCESS && address != nullptr) {
      row.store(address);
    } else if (row.required) {
      why = fmt::format("the driver has no {} of version {}", row.name, row.version);
      return Loaded::broken;
    }
  }
  const CUresult result = g_functions.cuInit(0);
  if (result == CUDA_SUCCESS) return Loaded::ready;
  why = fmt::format("cuInit returned {}", static_cast<int>(result));
  return result == CUDA_ERROR_NO_DEVICE ? Loaded::absent : Loaded::broken;
}

}  // namespace ferry::conformance
