// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/capture_rules.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace ferry::sim {

namespace {

constexpr std::string_view kUnsafe[] = {
    "cuCtxSynchronize",
    "cuLibraryLoadData",
    "cuLibraryLoadFromFile",
    "cuLibraryUnload",
    "cuMemAlloc",
    "cuMemAllocHost",
    "cuMemAllocManaged",
    "cuMemAllocPitch",
    "cuMemFree",
    "cuMemFreeHost",
    "cuMemHostAlloc",
    "cuMemHostRegister",
    "cuMemHostUnregister",
    "cuModuleLoad",
    "cuModuleLoadData",
    "cuModuleLoadDataEx",
    "cuModuleLoadFatBinary",
    "cuModuleUnload",
};

// By symbol: looked up at each call while a capture goes on.
constexpr auto kBySymbol = [] {
  std::array<bool, kSymbols.size()> unsafe{};
  for (std::size_t i = 0; i < kSymbols.size(); ++i)
    unsafe[i] = std::ranges::find(kUnsafe, kSymbols[i].name) != std::end(kUnsafe);
  return unsafe;
}();

}  // namespace

bool is_unsafe_in_capture(Symbol symbol) {
  return kBySymbol[static_cast<std::size_t>(symbol)];
}

}  // namespace ferry::sim
