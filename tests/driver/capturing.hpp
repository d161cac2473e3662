// SPDX-License-Identifier: Apache-2.0
// A stream that a test captures, as a program does that knows nothing of Ferry.
#pragma once

#include <gtest/gtest.h>

#include "driver/driver.hpp"

namespace ferry::testing_support {

class Capturing {
 public:
  enum Mode : int { global = 0, thread_local_ = 1, relaxed = 2 };

  Capturing(const Driver& driver, StreamRef stream, Mode mode = global)
      : driver_(driver), stream_(stream.native()) {
    EXPECT_EQ(function<int (*)(void*, int)>("cuStreamBeginCapture_v2")(stream_, mode), 0);
  }
  Capturing(const Capturing&) = delete;
  Capturing& operator=(const Capturing&) = delete;

  // Ends the capture, which nothing may have spoilt; how many nodes it has.
  [[nodiscard]] std::size_t end() {
    void* graph = nullptr;
    std::size_t nodes = 0;
    EXPECT_EQ(function<int (*)(void*, void**)>("cuStreamEndCapture")(stream_, &graph), 0);
    EXPECT_EQ(
        function<int (*)(void*, void**, std::size_t*)>("cuGraphGetNodes")(graph, nullptr, &nodes),
        0);
    EXPECT_EQ(function<int (*)(void*)>("cuGraphDestroy")(graph), 0);
    return nodes;
  }

 private:
  template <typename Function>
  Function function(const char* name) {
    return reinterpret_cast<Function>(driver_.find_symbol(name));
  }

  const Driver& driver_;
  void* stream_;
};

}  // namespace ferry::testing_support
