// SPDX-License-Identifier: Apache-2.0
// A copy engine on the stand-in, under each schedule; the hazard checker watches.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "memory/device_pool_fixture.hpp"
#include "transfer/copy_engine.hpp"

namespace ferry::testing_support {

class CopyTest : public testing::TestWithParam<const char*> {
 protected:
  static constexpr std::uint64_t kBytes = 64 * 1024;

  void SetUp() override {
    auto engine = CopyEngine::create(sim_.pool_side(), *pinned_);
    ASSERT_TRUE(engine.ok());
    engine_ = std::move(engine).value();
    device_ = sim_.test_side().alloc(Bytes{kBytes}).value().value;
  }
  void TearDown() override {
    engine_.reset();
    pinned_.reset();
    EXPECT_TRUE(sim_.test_side().synchronize());
    EXPECT_TRUE(sim_.test_side().free(DeviceAddress{device_}));
  }

  static std::uint64_t address_of(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
  }
  unsigned char* pinned(std::uint64_t bytes = kBytes) {
    const Result<void*> memory = pinned_->allocate(Bytes{bytes});
    EXPECT_TRUE(memory.ok());
    return static_cast<unsigned char*>(*memory);
  }
  Ticket copy(std::vector<CopyRequest> requests, const CopyOrder& after = {}) {
    Result<Ticket, Failure> ticket = engine_->submit(requests, after);
    EXPECT_TRUE(ticket.ok()) << ticket.error().describe();
    return std::move(ticket).value();
  }
  // What the device's buffer holds after the ticket.
  std::vector<unsigned char> fetch(const Ticket& ticket) {
    std::vector<unsigned char> bytes(kBytes);
    const Ticket* const after[] = {&ticket};
    EXPECT_TRUE(copy({{address_of(bytes.data()), device_, Bytes{kBytes}}}, {{}, after}).wait());
    return bytes;
  }

  SimDevice sim_{GetParam()};
  std::unique_ptr<PinnedPool> pinned_ = std::make_unique<PinnedPool>(sim_.pool_side());
  std::unique_ptr<CopyEngine> engine_;
  std::uint64_t device_ = 0;
};

}  // namespace ferry::testing_support
