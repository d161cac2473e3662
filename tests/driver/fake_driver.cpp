// SPDX-License-Identifier: Apache-2.0
// A CUDA driver that does nothing but answer, and that fails as the environment says:
//   FAKE_INIT=803          what cuInit returns
//   FAKE_DEVICES=0         how many devices there are (1)
//   FAKE_ATTRIBUTE=1       the value of every device attribute (0)
//   FAKE_MISSING=cuInit    a function that it does not have
// A function is only found at the version at which Ferry compiles its signature.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kNotFound = 500;
constexpr int kDriverVersion = 12080;

int number(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

int answer(std::string_view name, void* first, void* second) {
  if (name == "cuInit") return number("FAKE_INIT", 0);
  if (name == "cuDriverGetVersion") *static_cast<int*>(first) = kDriverVersion;
  if (name == "cuDeviceGetCount") *static_cast<int*>(first) = number("FAKE_DEVICES", 1);
  if (name == "cuDeviceGetAttribute") *static_cast<int*>(first) = number("FAKE_ATTRIBUTE", 0);
  if (name == "cuGetErrorString") *static_cast<const char**>(second) = "a fake error";
  return 0;
}

}  // namespace

// Every function takes what its first two arguments would be; the others stay unread.
#define FERRY_CUDA_REQUIRED(name, version, symbol)    \
  FAKE_EXPORT int symbol(void* first, void* second) { \
    return answer(#name, first, second);              \
  }
#define FERRY_CUDA_OPTIONAL(name, version, symbol) FERRY_CUDA_REQUIRED(name, version, symbol)
#include "abi/cuda_symbols.inc"

#ifndef FAKE_WITHOUT_LOOKUP
FAKE_EXPORT int cuGetProcAddress_v2(const char* wanted, void** function, int wanted_version,
                                    std::uint64_t flags, int* found) {
  constexpr int kFound = 0;
  constexpr int kSymbolNotFound = 1;
  constexpr int kVersionNotSufficient = 2;
  *function = nullptr;
  *found = kSymbolNotFound;
  const char* const missing = std::getenv("FAKE_MISSING");
  if (flags != 0 || (missing != nullptr && std::string_view(missing) == wanted)) return kNotFound;
  const auto offer = [&](std::string_view name, int version, void* address) {
    if (name != wanted) return;
    *found = version == wanted_version ? kFound : kVersionNotSufficient;
    if (*found == kFound) *function = address;
  };
#define FERRY_CUDA_REQUIRED(name, version, symbol) \
  offer(#name, version, reinterpret_cast<void*>(&symbol));
#define FERRY_CUDA_OPTIONAL(name, version, symbol) FERRY_CUDA_REQUIRED(name, version, symbol)
#include "abi/cuda_symbols.inc"
  return *found == kFound ? 0 : kNotFound;
}
#endif
