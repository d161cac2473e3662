// SPDX-License-Identifier: Apache-2.0
#include "driver/device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "driver/scoped_variable.hpp"
#include "driver/stand_in.hpp"

namespace ferry {
namespace {

using testing::StandIn;

constexpr int kOutOfMemory = 2;
constexpr int kDeinitialized = 4;
constexpr int kIllegalAddress = 700;
constexpr int kCaptureUnsupported = 900;
constexpr std::uint32_t kMark = 0xC0FFEE;

class DeviceTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    sim_ = &StandIn::reset(GetParam());
    auto opened = Device::open(sim_->driver(), DeviceId{0});
    ASSERT_TRUE(opened.ok()) << opened.error().describe();
    device_ = *std::move(opened);
  }

  void TearDown() override {
    device_.reset();
    EXPECT_EQ(sim_->memory_in_use(0), 0_B);
  }

  Device& device() { return *device_; }
  Bytes chunk() { return device_->granularity(); }

  // A chunk that is mapped and open, ready for use.
  struct Mapped {
    DeviceAddress address;
    PhysicalHandle handle;
  };
  Mapped map_one() {
    const DeviceAddress address = device().reserve(chunk()).value();
    const PhysicalHandle handle = device().create(chunk()).value();
    EXPECT_TRUE(device().map(address, chunk(), handle).ok());
    EXPECT_TRUE(device().set_access(address, chunk(), 1).ok());
    return {address, handle};
  }
  void unmap_one(Mapped mapped) {
    EXPECT_TRUE(device().unmap(mapped.address, chunk(), 1).ok());
    EXPECT_TRUE(device().release(mapped.handle, chunk()).ok());
    EXPECT_TRUE(device().free_reservation(mapped.address, chunk()).ok());
  }

  std::span<std::uint32_t> pinned_words(std::size_t count) {
    auto* const words = static_cast<std::uint32_t*>(
        device().host_alloc(Bytes{count * sizeof(std::uint32_t)}).value());
    std::fill_n(words, count, 0U);
    return {words, count};
  }

  StandIn* sim_ = nullptr;
  std::unique_ptr<Device> device_;
};

INSTANTIATE_TEST_SUITE_P(Schedules, DeviceTest, testing::schedules());

TEST_P(DeviceTest, OpensThePrimaryContext) {
  EXPECT_EQ(device().id(), DeviceId{0});
  EXPECT_EQ(&device().driver(), &sim_->driver());
  EXPECT_EQ(device().granularity(), 2_MiB);
  const MemoryInfo before = device().memory_info().value();
  EXPECT_GT(before.total, 0_B);
  const PhysicalHandle handle = device().create(chunk()).value();
  EXPECT_EQ(device().memory_info().value().free, before.free - chunk());
  EXPECT_TRUE(device().release(handle, chunk()).ok());
}

TEST_P(DeviceTest, ADeviceThatIsNotThereIsRefused) {
  EXPECT_EQ(Device::open(sim_->driver(), DeviceId{7}).error().code(), Code::no_device);
}

TEST_P(DeviceTest, BytesSurviveTheWholePath) {
  const Mapped mapped = map_one();
  const StreamRef stream = device().create_stream().value();
  const std::span<std::uint32_t> words = pinned_words(chunk().count / sizeof(std::uint32_t));
  const Bytes pitch{sizeof(std::uint32_t)};
  ASSERT_TRUE(device().fill_words(mapped.address, pitch, words.size(), kMark, stream).ok());
  ASSERT_TRUE(device().read_words(words.data(), mapped.address, pitch, words.size(), stream).ok());
  ASSERT_TRUE(device().synchronize(stream).ok());
  EXPECT_TRUE(std::ranges::all_of(words, [](std::uint32_t word) { return word == kMark; }));
  EXPECT_TRUE(device().host_free(words.data()).ok());
  EXPECT_TRUE(device().destroy_stream(stream).ok());
  unmap_one(mapped);
}

TEST_P(DeviceTest, PitchedMarksLeaveTheWordsBetweenAlone) {
  const Mapped mapped = map_one();
  const StreamRef stream = device().create_stream().value();
  const std::span<std::uint32_t> words = pinned_words(9);
  const Bytes word{4};
  ASSERT_TRUE(device().fill_words(mapped.address, word, 9, 1, stream).ok());
  ASSERT_TRUE(device().fill_words(mapped.address, 16_B, 2, kMark, stream).ok());
  ASSERT_TRUE(device().fill_words(mapped.address + 32_B, 512_B, 1, kMark, stream).ok());
  ASSERT_TRUE(device().fill_words(mapped.address, 16_B, 0, 7, stream).ok());
  ASSERT_TRUE(device().read_words(words.data(), mapped.address, word, 9, stream).ok());
  ASSERT_TRUE(device().synchronize(stream).ok());
  const std::vector<std::uint32_t> expected{kMark, 1, 1, 1, kMark, 1, 1, 1, kMark};
  EXPECT_TRUE(std::ranges::equal(words, expected));

  std::ranges::fill(words, 0U);
  ASSERT_TRUE(device().read_words(words.data(), mapped.address, 16_B, 3, stream).ok());
  ASSERT_TRUE(device().synchronize(stream).ok());
  EXPECT_TRUE(
      std::ranges::equal(words.first(4), std::vector<std::uint32_t>{kMark, kMark, kMark, 0}));
  EXPECT_TRUE(device().host_free(words.data()).ok());
  EXPECT_TRUE(device().destroy_stream(stream).ok());
  unmap_one(mapped);
}

TEST_P(DeviceTest, PlainMemoryComesAndGoes) {
  const DeviceAddress address = device().alloc(1_MiB).value();
  EXPECT_FALSE(address.is_null());
  EXPECT_GE(sim_->memory_in_use(0), 1_MiB);
  EXPECT_TRUE(device().free(address).ok());
  EXPECT_EQ(device().free(address).code(), Code::invalid_argument);
}

TEST_P(DeviceTest, EventsOrderOneStreamAfterAnother) {
  const Mapped mapped = map_one();
  const StreamRef writer = device().create_stream().value();
  const StreamRef reader = device().create_stream().value();
  const EventHandle event = device().create_event().value();
  const std::span<std::uint32_t> word = pinned_words(1);
  ASSERT_TRUE(device().fill_words(mapped.address, 4_B, 1, kMark, writer).ok());
  ASSERT_TRUE(device().record(event, writer).ok());
  ASSERT_TRUE(device().wait(reader, event).ok());
  ASSERT_TRUE(device().read_words(word.data(), mapped.address, 4_B, 1, reader).ok());
  ASSERT_TRUE(device().synchronize(reader).ok());
  EXPECT_EQ(word[0], kMark);
  EXPECT_TRUE(device().query(event).value());
  EXPECT_TRUE(device().synchronize().ok());
  EXPECT_TRUE(device().destroy_event(event).ok());
  EXPECT_TRUE(device().host_free(word.data()).ok());
  EXPECT_TRUE(device().destroy_stream(writer).ok());
  EXPECT_TRUE(device().destroy_stream(reader).ok());
  unmap_one(mapped);
}

TEST_P(DeviceTest, AContextEventCoversEveryStream) {
  const Mapped mapped = map_one();
  const StreamRef one = device().create_stream().value();
  const StreamRef other = device().create_stream().value();
  const EventHandle event = device().create_event().value();
  const std::span<std::uint32_t> words = pinned_words(2);
  ASSERT_TRUE(device().fill_words(mapped.address, 4_B, 1, kMark, one).ok());
  ASSERT_TRUE(device().read_words(&words[0], mapped.address, 4_B, 1, one).ok());
  ASSERT_TRUE(device().fill_words(mapped.address + 4_B, 4_B, 1, kMark, other).ok());
  ASSERT_TRUE(device().read_words(&words[1], mapped.address + 4_B, 4_B, 1, other).ok());
  ASSERT_TRUE(device().record_context(event).ok());
  ASSERT_TRUE(device().synchronize(event).ok());
  EXPECT_EQ(words[0], kMark);
  EXPECT_EQ(words[1], kMark);
  EXPECT_TRUE(device().destroy_event(event).ok());
  EXPECT_TRUE(device().host_free(words.data()).ok());
  EXPECT_TRUE(device().destroy_stream(one).ok());
  EXPECT_TRUE(device().destroy_stream(other).ok());
  unmap_one(mapped);
}

TEST_P(DeviceTest, QueuedWorkIsNotReadyAndNoError) {
  const EventHandle event = device().create_event().value();
  sim_->fail_nth("cuEventQuery", 1, 600);
  const Result<bool> answer = device().query(event);
  ASSERT_TRUE(answer.ok()) << answer.error().describe();
  EXPECT_FALSE(*answer);
  EXPECT_TRUE(device().destroy_event(event).ok());
}

TEST_P(DeviceTest, AStreamThatDoesNotCaptureSaysSo) {
  const StreamRef stream = device().create_stream().value();
  EXPECT_FALSE(device().is_capturing(stream).value());
  EXPECT_FALSE(device().is_capturing(StreamRef::legacy_default()).value());
  EXPECT_TRUE(device().destroy_stream(stream).ok());
}

TEST_P(DeviceTest, EveryCallIsCountedByKind) {
  const CallTallies start = device().tallies();
  EXPECT_EQ(start.total_calls(), 0U);
  unmap_one(map_one());
  EXPECT_TRUE(device().free(device().alloc(3_MiB).value()).ok());
  EXPECT_TRUE(device().host_free(device().host_alloc(1_MiB).value()).ok());
  const StreamRef stream = device().create_stream().value();
  const EventHandle event = device().create_event().value();
  EXPECT_FALSE(device().is_capturing(stream).value());
  EXPECT_TRUE(device().record(event, stream).ok());
  EXPECT_TRUE(device().wait(stream, event).ok());
  EXPECT_TRUE(device().query(event).ok());
  EXPECT_TRUE(device().record_context(event).ok());
  EXPECT_TRUE(device().synchronize(event).ok());
  EXPECT_TRUE(device().synchronize(stream).ok());
  EXPECT_TRUE(device().synchronize().ok());
  EXPECT_TRUE(device().destroy_event(event).ok());
  EXPECT_TRUE(device().destroy_stream(stream).ok());

  const CallTallies now = device().tallies();
  const auto expect = [&](DriverCall call, std::uint64_t calls, Bytes bytes,
                          std::uint64_t mappings = 0) {
    EXPECT_EQ(now[call].calls, calls) << name_of(call);
    EXPECT_EQ(now[call].bytes, bytes.count) << name_of(call);
    EXPECT_EQ(now[call].mappings, mappings) << name_of(call);
  };
  expect(DriverCall::reserve, 2, chunk());
  expect(DriverCall::create, 1, chunk());
  expect(DriverCall::map, 1, chunk());
  expect(DriverCall::set_access, 1, chunk(), 1);
  expect(DriverCall::unmap, 1, chunk(), 1);
  expect(DriverCall::release, 1, chunk());
  expect(DriverCall::alloc, 1, 3_MiB);
  expect(DriverCall::free, 1, 0_B);
  expect(DriverCall::host_alloc, 2, 1_MiB);
  expect(DriverCall::synchronize, 3, 0_B);
  EXPECT_EQ(now.total_calls(), 14U);
  EXPECT_EQ(now.event_calls, 4U);
}

// One call of each kind, with arguments that the driver would take.
struct Probe {
  const char* site;
  std::function<Status(Device&)> call;
};

template <typename T>
Status status_of(const Result<T>& result) {
  return result ? Status{} : result.error();
}

std::vector<Probe> probes(DeviceAddress address, Bytes size, StreamRef stream, EventHandle event,
                          std::uint32_t* host) {
  return {
      {"cuMemGetInfo", [](Device& d) { return status_of(d.memory_info()); }},
      {"cuMemAddressReserve", [=](Device& d) { return status_of(d.reserve(size)); }},
      {"cuMemAddressFree", [=](Device& d) { return d.free_reservation(address, size); }},
      {"cuMemCreate", [=](Device& d) { return status_of(d.create(size)); }},
      {"cuMemRelease", [=](Device& d) { return d.release(PhysicalHandle{1}, size); }},
      {"cuMemMap", [=](Device& d) { return d.map(address, size, PhysicalHandle{1}); }},
      {"cuMemSetAccess", [=](Device& d) { return d.set_access(address, size, 1); }},
      {"cuMemUnmap", [=](Device& d) { return d.unmap(address, size, 1); }},
      {"cuMemAlloc", [=](Device& d) { return status_of(d.alloc(size)); }},
      {"cuMemFree", [=](Device& d) { return d.free(address); }},
      {"cuMemHostAlloc", [=](Device& d) { return status_of(d.host_alloc(size)); }},
      {"cuMemFreeHost", [=](Device& d) { return d.host_free(host); }},
      {"cuStreamCreate", [](Device& d) { return status_of(d.create_stream()); }},
      {"cuStreamDestroy", [=](Device& d) { return d.destroy_stream(stream); }},
      {"cuEventCreate", [](Device& d) { return status_of(d.create_event()); }},
      {"cuEventDestroy", [=](Device& d) { return d.destroy_event(event); }},
      {"cuEventRecord", [=](Device& d) { return d.record(event, stream); }},
      {"cuCtxRecordEvent", [=](Device& d) { return d.record_context(event); }},
      {"cuEventQuery", [=](Device& d) { return status_of(d.query(event)); }},
      {"cuStreamWaitEvent", [=](Device& d) { return d.wait(stream, event); }},
      {"cuEventSynchronize", [=](Device& d) { return d.synchronize(event); }},
      {"cuStreamSynchronize", [=](Device& d) { return d.synchronize(stream); }},
      {"cuCtxSynchronize", [](Device& d) { return d.synchronize(); }},
      {"cuStreamIsCapturing", [=](Device& d) { return status_of(d.is_capturing(stream)); }},
      {"cuPointerGetAttributes", [=](Device& d) { return status_of(d.describe(address.value)); }},
      {"cuMemGetAddressRange", [=](Device& d) { return status_of(d.describe(address.value)); }},
      {"cuMemcpyAsync",
       [=](Device& d) { return d.copy(address.value + 64, address.value, 4_B, stream); }},
      {"cuStreamGetCtx", [=](Device& d) { return status_of(d.owns(stream)); }},
      {"cuMemsetD32Async", [=](Device& d) { return d.fill_words(address, 4_B, 2, 1, stream); }},
      {"cuMemsetD2D32Async", [=](Device& d) { return d.fill_words(address, 8_B, 2, 1, stream); }},
      {"cuMemcpyDtoHAsync", [=](Device& d) { return d.read_words(host, address, 4_B, 2, stream); }},
      {"cuMemcpy2DAsync", [=](Device& d) { return d.read_words(host, address, 8_B, 2, stream); }},
  };
}

TEST_P(DeviceTest, EveryFailureIsTranslatedAndLeavesNothingBehind) {
  const Mapped mapped = map_one();
  const StreamRef stream = device().create_stream().value();
  const EventHandle event = device().create_event().value();
  const std::span<std::uint32_t> words = pinned_words(2);
  const Bytes in_use = sim_->memory_in_use(0);
  for (const Probe& probe : probes(mapped.address, chunk(), stream, event, words.data())) {
    for (const auto& [result, code] : {std::pair{kOutOfMemory, Code::out_of_memory},
                                       {kDeinitialized, Code::not_initialized},
                                       {kIllegalAddress, Code::device_lost},
                                       {kCaptureUnsupported, Code::capture_active}}) {
      const std::uint64_t before = sim_->calls(probe.site);
      sim_->fail_nth(probe.site, 1, result);
      const Status status = probe.call(device());
      EXPECT_EQ(status.code(), code) << probe.site << ' ' << status.describe();
      EXPECT_EQ(status.native(), result) << probe.site;
      EXPECT_STREQ(status.site(), probe.site);
      EXPECT_EQ(sim_->calls(probe.site), before + 1) << probe.site;
    }
  }
  EXPECT_EQ(sim_->memory_in_use(0), in_use);
  EXPECT_TRUE(device().destroy_event(event).ok());
  EXPECT_TRUE(device().destroy_stream(stream).ok());
  EXPECT_TRUE(device().host_free(words.data()).ok());
  unmap_one(mapped);
}

TEST_P(DeviceTest, ADriverThatIsGoneIsReportedBeforeAnythingIsCalled) {
  sim_->fail_nth("cuCtxPushCurrent", 1, kDeinitialized);
  const Status status = status_of(device().create(chunk()));
  EXPECT_EQ(status.code(), Code::not_initialized);
  EXPECT_STREQ(status.site(), "cuCtxPushCurrent");
  EXPECT_EQ(sim_->calls("cuMemCreate"), 0U);
}

TEST_P(DeviceTest, ClosingTakesADriverThatIsGone) {
  sim_->fail_nth("cuDevicePrimaryCtxRelease", 1, kDeinitialized);
  device_.reset();
  EXPECT_EQ(sim_->calls("cuDevicePrimaryCtxRelease"), 1U);
}

TEST_P(DeviceTest, OpeningGivesTheContextBackWhereLaterStepsFail) {
  for (const char* function : {"cuDeviceGet", "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain",
                               "cuMemGetAllocationGranularity"}) {
    sim_->fail_nth(function, 1, kOutOfMemory);
    EXPECT_EQ(Device::open(sim_->driver(), DeviceId{0}).error().code(), Code::out_of_memory)
        << function;
  }
  EXPECT_EQ(sim_->calls("cuDevicePrimaryCtxRelease"), 0U);
  device_.reset();
  EXPECT_EQ(sim_->calls("cuDevicePrimaryCtxRelease"), 1U);
}

TEST_P(DeviceTest, TheCallersContextIsRestored) {
  const auto current = [this] {
    void* context = nullptr;
    const auto get =
        reinterpret_cast<int (*)(void**)>(sim_->driver().find_symbol("cuCtxGetCurrent"));
    EXPECT_EQ(get(&context), 0);
    return context;
  };
  ASSERT_EQ(current(), nullptr);
  EXPECT_TRUE(device().synchronize().ok());
  EXPECT_EQ(current(), nullptr);
  sim_->fail_nth("cuCtxSynchronize", 1, kIllegalAddress);
  EXPECT_FALSE(device().synchronize().ok());
  EXPECT_EQ(current(), nullptr);
}

TEST_P(DeviceTest, ThreadsShareADevice) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      for (int round = 0; round < 20; ++round) unmap_one(map_one());
    });
  }
  threads.clear();
  EXPECT_EQ(device().tallies()[DriverCall::create].calls, 80U);
}

TEST(DeviceOpen, RefusesADeviceWithoutVirtualMemory) {
  const auto driver = Driver::load({.kind = DriverChoice::Kind::path, .path = FAKE_DRIVER});
  ASSERT_TRUE(driver.ok()) << driver.error();
  EXPECT_EQ(Device::open(**driver, DeviceId{0}).error().code(), Code::not_supported);
}

TEST(DeviceOpen, AnOlderDriverHasNoContextEvents) {
  const testing::ScopedVariable missing("FAKE_MISSING", "cuCtxRecordEvent");
  const testing::ScopedVariable capable("FAKE_ATTRIBUTE", "1");
  const auto driver = Driver::load({.kind = DriverChoice::Kind::path, .path = FAKE_DRIVER});
  ASSERT_TRUE(driver.ok()) << driver.error();
  const auto device = Device::open(**driver, DeviceId{0});
  ASSERT_TRUE(device.ok()) << device.error().describe();
  const Status status = (*device)->record_context(EventHandle{});
  EXPECT_EQ(status.code(), Code::not_supported);
  EXPECT_STREQ(status.site(), "cuCtxRecordEvent");
  EXPECT_EQ((*device)->tallies().event_calls, 0U);
}

}  // namespace
}  // namespace ferry
