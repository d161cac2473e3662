// SPDX-License-Identifier: Apache-2.0
// Kineto memory events as JSON text, for tests.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace ferry::replay::testing {

struct MemoryEvent {
  double ts = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t allocated = 0;
  std::int64_t reserved = 0;
  int type = 1;
  int device = 0;
};

inline std::string json_of(const MemoryEvent& event) {
  return fmt::format(
      R"({{"ph":"i","name":"[memory]","ts":{:.3f},"args":{{"Addr":{},"Bytes":{},"Device Type":{},)"
      R"("Device Id":{},"Total Allocated":{},"Total Reserved":{}}}}})",
      event.ts, event.address, event.bytes, event.type, event.device, event.allocated,
      event.reserved);
}

// Each of `events` is the JSON of one.
template <typename... Json>
std::string kineto_trace(const Json&... events) {
  std::string list;
  ((list += (list.empty() ? "" : ",") + std::string(events)), ...);
  return R"({"schemaVersion":1,"deviceProperties":[{"id":0}],"traceEvents":[)" + list + "]}";
}

}  // namespace ferry::replay::testing
