// SPDX-License-Identifier: Apache-2.0
// What a trace reader owes for any bytes: a trace that keeps its promises, or one printable
// sentence with a place inside the input. Anything else ends the process, so that a fuzzer notices.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "front/traces/trace.hpp"
#include "front/traces/trace_check.hpp"

namespace ferry::fuzz {

[[noreturn]] inline void give_up(const std::string& why) {
  std::fprintf(stderr, "broken promise: %s\n", why.c_str());
  std::abort();
}

// `size` is that of the stream that offsets count in.
inline void check(const Result<replay::Trace, replay::TraceError>& result, std::uint64_t size) {
  if (result) {
    const std::string broken = replay::testing::broken_promise(*result);
    if (!broken.empty()) give_up(broken);
    return;
  }
  const replay::TraceError& error = result.error();
  if (error.offset.value_or(0) > size) give_up("the place of an error lies beyond the end");
  if (error.message.empty() || error.message.size() > 400) give_up("no sentence");
  for (const char c : error.message) {
    if (c < ' ' || c > '~') give_up("a sentence that cannot be printed");
  }
}

}  // namespace ferry::fuzz
