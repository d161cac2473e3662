// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "ferry/ferry.h"

namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::size_t kBytes = 1 << 20;

class CopyC : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_EQ(ferry_init(nullptr), FERRY_OK) << ferry_last_error(); }
  void SetUp() override {
    ASSERT_EQ(ferry_device_pool_create(0, nullptr, &device_pool_), FERRY_OK);
    ASSERT_EQ(ferry_device_allocate(device_pool_, kBytes, nullptr, &device_), FERRY_OK);
    ASSERT_EQ(ferry_pinned_pool_create(0, &pinned_), FERRY_OK) << ferry_last_error();
    ASSERT_EQ(ferry_copy_engine_create(pinned_, &engine_), FERRY_OK) << ferry_last_error();
  }
  void TearDown() override {
    EXPECT_EQ(ferry_copy_engine_destroy(engine_), FERRY_OK);
    EXPECT_EQ(ferry_pinned_pool_destroy(pinned_), FERRY_OK);
    EXPECT_EQ(ferry_device_pool_destroy(device_pool_), FERRY_OK);
  }
  unsigned char* pinned() {
    void* pointer = nullptr;
    EXPECT_EQ(ferry_pinned_allocate(pinned_, kBytes, &pointer), FERRY_OK) << ferry_last_error();
    return static_cast<unsigned char*>(pointer);
  }
  ferry_ticket* copy(void* destination, const void* source,
                     std::vector<const ferry_ticket*> after = {}) {
    const ferry_copy_request request{destination, source, kBytes};
    ferry_ticket* ticket = nullptr;
    EXPECT_EQ(
        ferry_copy_batch(engine_, &request, 1, nullptr, 0, after.data(), after.size(), &ticket),
        FERRY_OK)
        << ferry_last_error();
    return ticket;
  }

  ferry_device_pool* device_pool_ = nullptr;
  ferry_pinned_pool* pinned_ = nullptr;
  ferry_copy_engine* engine_ = nullptr;
  void* device_ = nullptr;
};

TEST_F(CopyC, ThereAndBack) {
  unsigned char* const from = pinned();
  std::memset(from, 5, kBytes);
  ferry_ticket* const up = copy(device_, from);
  EXPECT_EQ(ferry_pinned_free(pinned_, from), FERRY_OK);
  std::vector<unsigned char> back(kBytes);
  ferry_ticket* const down = copy(back.data(), device_, {up});
  EXPECT_EQ(ferry_ticket_wait(down), FERRY_OK);
  EXPECT_EQ(back, std::vector<unsigned char>(kBytes, 5));
  int complete = -1;
  EXPECT_EQ(ferry_ticket_is_complete(up, &complete), FERRY_OK);
  EXPECT_EQ(complete, 1);
  EXPECT_EQ(ferry_ticket_wait_on(up, nullptr), FERRY_OK);
  EXPECT_EQ(ferry_ticket_destroy(up), FERRY_OK);
  EXPECT_EQ(ferry_ticket_destroy(down), FERRY_OK);
}

TEST_F(CopyC, PinnedMemoryIsKeptAndTrimmed) {
  unsigned char* const block = pinned();
  EXPECT_EQ(ferry_pinned_record_use(pinned_, block + 10, nullptr), FERRY_OK);
  EXPECT_EQ(ferry_pinned_free(pinned_, block), FERRY_OK);
  EXPECT_EQ(ferry_pinned_free(pinned_, block), FERRY_ERROR_ALREADY_FREED);
  EXPECT_EQ(ferry_pinned_free(pinned_, this), FERRY_ERROR_NOT_OWNED);
  std::uint64_t returned = 0;
  EXPECT_EQ(ferry_pinned_pool_trim(pinned_, 0, &returned), FERRY_OK);
  EXPECT_EQ(returned, kBytes);
  EXPECT_EQ(ferry_pinned_pool_trim(pinned_, 0, nullptr), FERRY_OK);
}

TEST_F(CopyC, ACapturingStreamIsNoUserOfPinnedMemory) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(driver, nullptr);
  const auto call = [&](const char* name, auto... arguments) {
    return reinterpret_cast<int (*)(decltype(arguments)...)>(dlsym(driver, name))(arguments...);
  };
  void* context = nullptr;
  void* stream = nullptr;
  void* graph = nullptr;
  ASSERT_EQ(call("cuDevicePrimaryCtxRetain", &context, 0), 0);
  ASSERT_EQ(call("cuCtxSetCurrent", context), 0);
  ASSERT_EQ(call("cuStreamCreate", &stream, 1U), 0);
  ASSERT_EQ(call("cuStreamBeginCapture_v2", stream, 0), 0);
  EXPECT_EQ(ferry_pinned_record_use(pinned_, pinned(), stream), FERRY_ERROR_CAPTURE_ACTIVE);
  EXPECT_THAT(ferry_last_error(), HasSubstr("the stream is being captured"));
  EXPECT_EQ(call("cuStreamEndCapture", stream, &graph), 0);
  EXPECT_EQ(call("cuGraphDestroy", graph), 0);
  EXPECT_EQ(call("cuStreamDestroy_v2", stream), 0);
  EXPECT_EQ(call("cuDevicePrimaryCtxRelease_v2", 0), 0);
}

TEST_F(CopyC, MisuseIsRefusedInWords) {
  ferry_ticket* ticket = nullptr;
  const ferry_copy_request overlapping[] = {{device_, pinned(), 64}, {device_, pinned(), 32}};
  EXPECT_EQ(ferry_copy_batch(engine_, overlapping, 2, nullptr, 0, nullptr, 0, &ticket),
            FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(ferry_last_error(), HasSubstr("write the same bytes"));
  EXPECT_EQ(ticket, nullptr);
  EXPECT_EQ(ferry_copy_batch(engine_, nullptr, 1, nullptr, 0, nullptr, 0, &ticket),
            FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(ferry_last_error(), HasSubstr("requests is NULL"));
  EXPECT_EQ(ferry_copy_batch(engine_, overlapping, 1, nullptr, 1, nullptr, 0, &ticket),
            FERRY_ERROR_INVALID_ARGUMENT);
  const ferry_ticket* const none[] = {nullptr};
  EXPECT_EQ(ferry_copy_batch(engine_, overlapping, 1, nullptr, 0, none, 1, &ticket),
            FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_copy_batch(nullptr, overlapping, 1, nullptr, 0, nullptr, 0, &ticket),
            FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_copy_batch(engine_, overlapping, 1, nullptr, 0, nullptr, 0, nullptr),
            FERRY_ERROR_INVALID_ARGUMENT);
}

std::string hex(const void* pointer) {
  std::ostringstream text;
  text << pointer;
  return text.str();
}

TEST_F(CopyC, RefusalsNameTheArgument) {
  unsigned char* const block = pinned();
  ferry_ticket* ticket = nullptr;
  const ferry_copy_request requests[] = {{device_, block, 64},
                                         {device_, block, std::size_t{1} << 26}};
  EXPECT_EQ(ferry_copy_batch(engine_, requests + 1, 1, nullptr, 0, nullptr, 0, &ticket),
            FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(ferry_last_error(),
              AllOf(HasSubstr("requests[0] writes 67108864 bytes at " + hex(device_)),
                    HasSubstr("memory there ends at")));
  void* const bad = reinterpret_cast<void*>(0x1234);
  void* const streams[] = {nullptr, bad};
  EXPECT_EQ(ferry_copy_batch(engine_, requests, 1, streams, 2, nullptr, 0, &ticket),
            FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(ferry_last_error(),
              AllOf(HasSubstr("CUDA_ERROR_INVALID_HANDLE"), HasSubstr("streams[1] is 0x1234")));
  EXPECT_EQ(ferry_pinned_record_use(pinned_, block, bad), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(ferry_last_error(), HasSubstr("the stream is 0x1234"));
  EXPECT_EQ(ferry_pinned_record_use(pinned_, this, nullptr), FERRY_ERROR_NOT_OWNED);
  EXPECT_THAT(ferry_last_error(), HasSubstr(hex(this) + " lies in none of the pool's"));
  EXPECT_EQ(ferry_pinned_free(pinned_, block + 1), FERRY_ERROR_NOT_OWNED);
  EXPECT_THAT(ferry_last_error(), AllOf(HasSubstr(hex(block + 1) + " lies 1 bytes into the block"),
                                        HasSubstr("starts at " + hex(block) + ";")));
  void* pointer = nullptr;
  EXPECT_EQ(ferry_pinned_allocate(pinned_, ~std::size_t{0}, &pointer), FERRY_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(ferry_last_error(), HasSubstr("18446744073709551615 bytes were asked for"));
  ferry_ticket* const good = copy(device_, block);
  EXPECT_EQ(ferry_ticket_wait_on(good, bad), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(ferry_last_error(), HasSubstr("the stream is 0x1234"));
  const ferry_ticket* const tickets[] = {good, nullptr};
  EXPECT_EQ(ferry_copy_batch(engine_, requests, 1, nullptr, 0, tickets, 2, &ticket),
            FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(ferry_last_error(), HasSubstr("tickets[1] is NULL"));
  EXPECT_EQ(ferry_ticket_destroy(good), FERRY_OK);
  ferry_pinned_pool* pool = nullptr;
  EXPECT_EQ(ferry_pinned_pool_create(77, &pool), FERRY_ERROR_NO_DEVICE);
  EXPECT_THAT(ferry_last_error(), AllOf(HasSubstr("CUDA_ERROR_INVALID_DEVICE"),
                                        HasSubstr("device 77 was asked for, and the driver has")));
}

TEST_F(CopyC, NothingIsDestroyedBeforeWhatWasMadeOfIt) {
  unsigned char* const block = pinned();
  ferry_ticket* const first = copy(device_, block);
  ferry_ticket* const second = copy(device_, block, {first});
  EXPECT_EQ(ferry_pinned_pool_destroy(pinned_), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(ferry_last_error(), AllOf(HasSubstr("in use by 1 copy engine(s)"),
                                        HasSubstr("ferry_copy_engine_destroy")));
  EXPECT_EQ(ferry_copy_engine_destroy(engine_), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(ferry_last_error(),
              AllOf(HasSubstr("in use by 2 ticket(s)"), HasSubstr("ferry_ticket_destroy")));
  EXPECT_EQ(ferry_ticket_wait(second), FERRY_OK) << "all goes on as before";
  EXPECT_EQ(ferry_ticket_destroy(first), FERRY_OK);
  EXPECT_EQ(ferry_copy_engine_destroy(engine_), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_ticket_destroy(second), FERRY_OK);
  ferry_copy_engine* other = nullptr;
  EXPECT_EQ(ferry_copy_engine_create(pinned_, &other), FERRY_OK);
  EXPECT_EQ(ferry_copy_engine_destroy(other), FERRY_OK);
  EXPECT_EQ(ferry_pinned_pool_destroy(pinned_), FERRY_ERROR_INVALID_ARGUMENT)
      << "the other engine is gone, this one is not";
}

TEST_F(CopyC, NullHandlesAreRefused) {
  int complete = 0;
  void* pointer = nullptr;
  ferry_pinned_pool* pool = nullptr;
  ferry_copy_engine* engine = nullptr;
  EXPECT_EQ(ferry_ticket_wait(nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_ticket_wait_on(nullptr, nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_ticket_is_complete(nullptr, &complete), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_ticket_destroy(nullptr), FERRY_OK);
  EXPECT_EQ(ferry_pinned_allocate(nullptr, 1, &pointer), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_pinned_allocate(pinned_, 1, nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_pinned_free(nullptr, nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_pinned_record_use(nullptr, nullptr, nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_pinned_pool_trim(nullptr, 0, nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_pinned_pool_create(0, nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_pinned_pool_create(77, &pool), FERRY_ERROR_NO_DEVICE);
  EXPECT_EQ(ferry_pinned_pool_destroy(nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_copy_engine_create(nullptr, &engine), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_copy_engine_create(pinned_, nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_copy_engine_destroy(nullptr), FERRY_ERROR_INVALID_ARGUMENT);
}

}  // namespace
