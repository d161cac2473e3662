// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/stubs.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "sim/words/cuda_api.hpp"
#include "sim/words/driver_log.hpp"

// The functions are declared without parameters, under C++ names of their own: cuda.h has declared
// the real ones. None of them looks at what it is given.
#define FERRY_SIM_STUB(name, version, symbol, per_thread) \
  extern "C" FERRY_SIM_EXPORT CUresult ferry_sim_stub_##symbol() __asm__(#symbol);
#include "sim/machine/stub_rows.inc"
#undef FERRY_SIM_STUB

namespace ferry::sim {

namespace {

#define FERRY_SIM_STUB(name, version, symbol, per_thread) symbol,
enum class StubNumber : std::uint16_t {
#include "sim/machine/stub_rows.inc"
  count,
};
#undef FERRY_SIM_STUB

#define FERRY_SIM_STUB(name, version, symbol, per_thread) \
  Stub{SymbolRow{#name, version, #symbol, per_thread},    \
       reinterpret_cast<void*>(&ferry_sim_stub_##symbol)},
const Stub kStubs[] = {
#include "sim/machine/stub_rows.inc"
};
#undef FERRY_SIM_STUB

CUresult refuse(StubNumber stub) {
  static std::atomic<bool> said[static_cast<std::size_t>(StubNumber::count)];
  const auto number = static_cast<std::size_t>(stub);
  if (!said[number].exchange(true, std::memory_order_relaxed)) {
    const std::string text =
        fmt::format("{} is not supported by the stand-in", kStubs[number].row.elf_name);
    fmt::print(stderr, "ferry-sim: {}\n", text);
    const LogDelivery delivery;
    DriverLog::get().add(text);
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

std::span<const Stub> stubs() {
  return kStubs;
}

}  // namespace ferry::sim

#define FERRY_SIM_STUB(name, version, symbol, per_thread)      \
  CUresult ferry_sim_stub_##symbol() {                         \
    return ferry::sim::refuse(ferry::sim::StubNumber::symbol); \
  }
#include "sim/machine/stub_rows.inc"
#undef FERRY_SIM_STUB
