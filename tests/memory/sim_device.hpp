// SPDX-License-Identifier: Apache-2.0
// A device of the stand-in for tests of the memory floor: reset for each test, under a schedule of
// the test's choice. The pool under test gets one Device, the test's own marks another.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "driver/device.hpp"
#include "driver/driver.hpp"
#include "ferry/sim.h"

namespace ferry::testing_support {

inline constexpr const char* kSchedules[] = {"schedule=eager",         "schedule=lazy",
                                             "schedule=random;seed=1", "schedule=random;seed=2",
                                             "schedule=random;seed=3", "schedule=random;seed=4",
                                             "schedule=random;seed=5"};

class SimDevice {
 public:
  explicit SimDevice(const std::string& settings = "schedule=eager") {
    control<ferry_sim_reset_fn>(FERRY_SIM_RESET)(settings.c_str());
    pool_side_ = open_device(DeviceId{0});
    test_side_ = open_device(DeviceId{0});
  }

  ~SimDevice() {
    pool_side_.reset();
    test_side_.reset();
  }
  SimDevice(const SimDevice&) = delete;
  SimDevice& operator=(const SimDevice&) = delete;

  [[nodiscard]] Device& pool_side() { return *pool_side_; }
  [[nodiscard]] Device& test_side() { return *test_side_; }

  [[nodiscard]] StreamRef stream() {
    const Result<StreamRef> made = test_side_->create_stream();
    EXPECT_TRUE(made.ok());
    return *made;
  }

  [[nodiscard]] static std::unique_ptr<Device> open_device(DeviceId id) {
    auto device = Device::open(driver(), id);
    if (!device) ADD_FAILURE() << device.error().describe();
    return std::move(device).value();
  }

  void fail_nth(const char* function, std::uint64_t nth, int result) {
    EXPECT_EQ(control<ferry_sim_fail_nth_fn>(FERRY_SIM_FAIL_NTH)(function, nth, result), 0);
  }
  [[nodiscard]] std::uint64_t calls(const char* function) {
    return control<ferry_sim_calls_fn>(FERRY_SIM_CALLS)(function);
  }
  [[nodiscard]] std::uint64_t memory_in_use() {
    return control<ferry_sim_memory_in_use_fn>(FERRY_SIM_MEMORY_IN_USE)(0);
  }
  void drain() { control<ferry_sim_drain_fn>(FERRY_SIM_DRAIN)(); }

  // Queues a word at `address` on `stream`; what a later read on a stream will see is told by
  // word_at.
  void write(DeviceAddress address, std::uint32_t word, StreamRef stream) {
    EXPECT_TRUE(test_side_->fill_words(address, Bytes{4}, 1, word, stream));
  }
  // Lets later work of `second` wait for what is queued on `first`.
  void order(StreamRef first, StreamRef second) {
    const Result<EventHandle> event = test_side_->create_event();
    EXPECT_TRUE(test_side_->record(*event, first));
    EXPECT_TRUE(test_side_->wait(second, *event));
    EXPECT_TRUE(test_side_->destroy_event(*event));
  }
  // The word in memory when all queued work has run, that of its last writer first: a write of
  // another stream that nothing orders before it then comes after it, and shows.
  [[nodiscard]] std::uint32_t word_at(DeviceAddress address, StreamRef last_writer) {
    EXPECT_TRUE(test_side_->synchronize(last_writer));
    drain();
    std::uint32_t word = 0;
    EXPECT_EQ(control<ferry_sim_peek_fn>(FERRY_SIM_PEEK)(address.value, &word, sizeof(word)), 0);
    return word;
  }

 private:
  static const Driver& driver() {
    static const Driver* const loaded = [] {
      auto driver = Driver::load(DriverChoice{.kind = DriverChoice::Kind::sim, .path = {}});
      if (!driver) ADD_FAILURE() << driver.error();
      return driver ? std::move(driver).value().release() : nullptr;
    }();
    return *loaded;
  }

  template <typename Function>
  static Function control(const char* name) {
    return reinterpret_cast<Function>(driver().find_symbol(name));
  }

  std::unique_ptr<Device> pool_side_;
  std::unique_ptr<Device> test_side_;
};

}  // namespace ferry::testing_support
