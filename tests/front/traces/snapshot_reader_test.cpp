// SPDX-License-Identifier: Apache-2.0
#include "front/traces/snapshot_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "front/traces/files.hpp"
#include "front/traces/snapshot_samples.hpp"
#include "front/traces/trace_check.hpp"

namespace ferry::replay {
namespace {

// Of sample_snapshot().
constexpr const char* kStartNote =
    "Device 0: 1 block is freed that no event allocates; it is taken to be live at the start.";

using testing::block;
using testing::broken_promise;
using ::testing::ElementsAre;
using testing::entry;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kSampleBase;
using testing::pickled;
using testing::Py;
using testing::sample_snapshot;
using testing::segment;
using testing::snapshot;

Trace read(const Py& value) {
  const std::string pickle = pickled(value);
  auto trace = read_snapshot(pickle);
  if (!trace) {
    ADD_FAILURE() << trace.error().describe();
    return {};
  }
  EXPECT_EQ(broken_promise(*trace), "");
  return std::move(*trace);
}

std::string error_of(const Py& value) {
  const std::string pickle = pickled(value);
  auto trace = read_snapshot(pickle);
  if (trace) return "read without error";
  EXPECT_LE(trace.error().offset.value_or(0), pickle.size());
  return trace.error().message;
}

std::vector<std::uint64_t> start_bytes(const DeviceTrace& device) {
  std::vector<std::uint64_t> out;
  for (const std::uint32_t block : device.start) out.push_back(device.blocks[block].bytes.count);
  return out;
}

TEST(SnapshotReader, RebuildsTheStartAndTheEvents) {
  const Trace trace = read(sample_snapshot());
  EXPECT_EQ(trace.format, "PyTorch snapshot");
  EXPECT_THAT(trace.notes, ElementsAre(kStartNote));
  ASSERT_EQ(trace.devices.size(), 1U);
  const DeviceTrace& device = trace.devices[0];
  EXPECT_EQ(device.device, 0);
  EXPECT_THAT(start_bytes(device), ElementsAre(4000, 8000));
  ASSERT_EQ(device.events.size(), 4U);
  EXPECT_EQ(device.events[0].kind, TraceEvent::Kind::free);
  EXPECT_EQ(device.events[1].time_us, 10);
  EXPECT_EQ(device.events[3].time_us, 30);
  EXPECT_EQ(device.peak_live, 12000_B);
  EXPECT_EQ(device.recorded_peak_reserved, 2_MiB);
  ASSERT_EQ(device.recorded_reserved.size(), 1U);
}

// What these must hold is worked out beside the values in make_fixtures.py.
TEST(SnapshotReader, ReadsPythonsOwnPicklesOfEveryProtocol) {
  for (int protocol = 0; protocol <= 5; ++protocol) {
    const std::string pickle = testing::file_content(
        testing::fixture_path("snapshot_protocol" + std::to_string(protocol) + ".pickle"));
    auto trace = read_snapshot(pickle);
    ASSERT_TRUE(trace) << protocol << " " << trace.error().describe();
    EXPECT_EQ(broken_promise(*trace), "");
    ASSERT_EQ(trace->devices.size(), 2U);
    const DeviceTrace& first = trace->devices[0];
    EXPECT_THAT(start_bytes(first), ElementsAre(512 << 10, 700, (4 << 20) - 24, 2 << 20));
    EXPECT_EQ(first.peak_live, Bytes{6'816'420 - 700 + 1000 + (3 << 20)});
    ASSERT_EQ(first.events.size(), 7U);
    // The cross-stream free counts when it was asked for.
    EXPECT_EQ(first.events[3].kind, TraceEvent::Kind::free);
    EXPECT_EQ(first.events[3].time_us, 40);
    EXPECT_EQ(first.events[3].stream, 7U);
    EXPECT_EQ(first.blocks[first.events[3].block].stream, 7U);
    EXPECT_EQ(first.recorded_peak_reserved, 24_MiB);
    ASSERT_EQ(first.recorded_reserved.size(), 3U);
    EXPECT_EQ(first.recorded_reserved[0].reserved, 22_MiB);
    EXPECT_EQ(first.recorded_reserved[1].event, 2U);
    EXPECT_EQ(first.recorded_reserved[2].event, 7U);
    EXPECT_EQ(trace->devices[1].device, 1);
    EXPECT_EQ(trace->devices[1].peak_live, 2048_B);
    EXPECT_EQ(trace->devices[1].events[0].time_us, 15) << "one clock for all devices";
    ASSERT_EQ(trace->notes.size(), 3U);
    EXPECT_THAT(trace->notes[0], HasSubstr("pinned host memory"));
    EXPECT_EQ(trace->notes[1],
              "Device 0: the recorded program ran out of memory once, at entry 13: it asked for "
              "5 GiB while 96 MiB was free. The request is not replayed.");
  }
}

TEST(SnapshotReader, AFreeThatIsDoneLaterCountsWhenItWasAskedFor) {
  const std::int64_t at = kSampleBase;
  const Trace trace = read(snapshot(
      {segment(0, at, 2 << 20, {block(at, 2 << 20, 1000, "active_pending_free")})},
      {Py(Py::List{entry("alloc", at, 1000, 1), entry("alloc", at + 4096, 100, 2, 3),
                   entry("free_requested", at, 1000, 3), entry("free_requested", at + 4096, 100, 4),
                   entry("free_completed", at + 4096, 100, 9)})}));
  const DeviceTrace& device = trace.devices[0];
  ASSERT_EQ(device.events.size(), 4U);
  EXPECT_TRUE(device.start.empty()) << "the pending block was freed by the program";
  EXPECT_THAT(trace.notes, IsEmpty());
}

TEST(SnapshotReader, PendingBlocksOfBeforeAreLiveUntilTheirCompletion) {
  const std::int64_t at = kSampleBase;
  for (const char* state : {"active_pending_free", "active_awaiting_free"}) {
    const Trace trace = read(
        snapshot({segment(0, at, 2 << 20,
                          {block(at, 4096, 4096, "inactive"), block(at + 4096, 512, 300, state)})},
                 {Py(Py::List{entry("free_completed", at, 4000, 5)})}));
    const DeviceTrace& device = trace.devices[0];
    EXPECT_THAT(start_bytes(device), ElementsAre(4000, 300));
    ASSERT_EQ(device.events.size(), 1U);
    EXPECT_EQ(device.events[0].block, device.start[0]);
  }
}

TEST(SnapshotReader, OldSnapshotsHaveNoBlockAddresses) {
  Py old = sample_snapshot();
  for (std::size_t i = 0; i < 4; ++i) old["segments"].at(0)["blocks"].at(i).erase("address");
  const Trace trace = read(old);
  EXPECT_THAT(start_bytes(trace.devices[0]), ElementsAre(4000, 8000));
  EXPECT_THAT(trace.notes, ElementsAre(kStartNote));
}

TEST(SnapshotReader, OldSnapshotsHaveNoRequestedSizes) {
  Py old = sample_snapshot();
  for (std::size_t i = 0; i < 4; ++i) old["segments"].at(0)["blocks"].at(i).erase("requested_size");
  EXPECT_THAT(start_bytes(read(old).devices[0]), ElementsAre(4096, 8000));
}

TEST(SnapshotReader, OldSnapshotsHaveNoTimes) {
  Py old = sample_snapshot();
  for (std::size_t i = 0; i < 6; ++i) old["device_traces"].at(0).at(i).erase("time_us");
  const Trace trace = read(old);
  for (const TraceEvent& event : trace.devices[0].events) EXPECT_EQ(event.time_us, 0);
  ASSERT_EQ(trace.notes.size(), 2U);
  EXPECT_THAT(trace.notes[0], HasSubstr("no times"));
}

TEST(SnapshotReader, OldSnapshotsHaveNoStreams) {
  Py old = sample_snapshot();
  for (std::size_t i = 0; i < 6; ++i) old["device_traces"].at(0).at(i).erase("stream");
  EXPECT_EQ(read(old).devices[0].events[0].stream, 0U);
}

TEST(SnapshotReader, ABareListOfSegmentsIsAStartWithoutEvents) {
  const Trace trace = read(sample_snapshot()["segments"]);
  EXPECT_THAT(start_bytes(trace.devices[0]), ElementsAre(4000, 500));
  EXPECT_TRUE(trace.devices[0].events.empty());
  EXPECT_EQ(trace.devices[0].peak_live, 4500_B);
}

TEST(SnapshotReader, ASnapshotMarkIsNoEvent) {
  Py only_segments = sample_snapshot();
  only_segments["device_traces"] = Py::List{Py::List{entry("snapshot", 0, 12345, 0)}};
  EXPECT_TRUE(read(only_segments).devices[0].events.empty());
}

TEST(SnapshotReader, WithoutSegmentsOnlyEventsAreKnown) {
  Py events = sample_snapshot();
  events.erase("segments");
  const Trace trace = read(events);
  EXPECT_THAT(start_bytes(trace.devices[0]), ElementsAre(8000));
  EXPECT_EQ(trace.devices[0].recorded_peak_reserved, std::nullopt);
  EXPECT_TRUE(trace.devices[0].recorded_reserved.empty());
  ASSERT_EQ(trace.notes.size(), 2U);
  EXPECT_THAT(trace.notes[0], HasSubstr("has no segments"));
}

TEST(SnapshotReader, EventsWinOverAFinalStateThatContradictsThem) {
  Py wrong = sample_snapshot();
  // Says that the last free did not happen, and that the block that stays is not there.
  wrong["segments"].at(0)["blocks"].at(1)["state"] = "active_allocated";
  wrong["segments"].at(0)["blocks"].at(2)["state"] = "inactive";
  const Trace trace = read(wrong);
  EXPECT_THAT(start_bytes(trace.devices[0]), ElementsAre(4000, 8000));
  EXPECT_EQ(trace.devices[0].events.size(), 4U);
  ASSERT_EQ(trace.notes.size(), 2U);
  EXPECT_THAT(trace.notes[1], HasSubstr("1 block is live in the final state"));
}

TEST(SnapshotReader, DevicesAreApart) {
  const std::int64_t at = kSampleBase;
  const Trace trace =
      read(snapshot({segment(2, at, 2 << 20, {block(at, 512, 100, "active_allocated")}, 9),
                     segment(5, at, 4 << 20, {block(at, 4 << 20, 0, "inactive")})},
                    {Py::List{}, Py(Py::List{entry("alloc", at, 700, 50)}), Py::List{},
                     Py(Py::List{entry("segment_alloc", at, 2 << 20, 10)})}));
  ASSERT_EQ(trace.devices.size(), 2U) << "devices without any block are left out";
  EXPECT_EQ(trace.devices[0].device, 1);
  EXPECT_EQ(trace.devices[0].recorded_peak_reserved, std::nullopt);
  EXPECT_EQ(trace.devices[1].device, 2);
  EXPECT_EQ(trace.devices[1].blocks[0].stream, 9U) << "the stream of its segment";
  EXPECT_EQ(trace.devices[1].recorded_peak_reserved, 2_MiB);
}

TEST(SnapshotReader, ReservedMemoryIsRebuiltBackwards) {
  Py value = sample_snapshot();
  auto& entries = std::get<Py::List>(value["device_traces"].at(0).value);
  entries.insert(entries.begin(), entry("segment_free", 0x1000, 20 << 20, 90));
  entries.insert(entries.begin() + 3, entry("segment_map", 0x2000, 4 << 20, 105));
  entries.push_back(entry("segment_unmap", 0x2000, 4 << 20, 140));
  const DeviceTrace device = read(value).devices[0];
  EXPECT_EQ(device.recorded_peak_reserved, 22_MiB);
  ASSERT_EQ(device.recorded_reserved.size(), 4U);
  EXPECT_EQ(device.recorded_reserved[0].reserved, 22_MiB);
  EXPECT_EQ(device.recorded_reserved[1].reserved, 2_MiB);
  EXPECT_EQ(device.recorded_reserved[2].reserved, 6_MiB);
  EXPECT_EQ(device.recorded_reserved[2].event, 1U);
  EXPECT_EQ(device.recorded_reserved[3].reserved, 2_MiB);
}

TEST(SnapshotReader, ReservedMemoryThatDoesNotAddUpIsALowerBound) {
  Py value = sample_snapshot();
  auto& entries = std::get<Py::List>(value["device_traces"].at(0).value);
  entries.push_back(entry("segment_alloc", 0x1000, 20 << 20, 140));
  const Trace trace = read(value);
  EXPECT_EQ(trace.devices[0].recorded_peak_reserved, 20_MiB);
  ASSERT_EQ(trace.notes.size(), 2U);
  EXPECT_THAT(trace.notes[1], HasSubstr("lower bound"));
}

TEST(SnapshotReader, UnknownActionsAreIgnoredAndNamed) {
  Py value = sample_snapshot();
  auto& entries = std::get<Py::List>(value["device_traces"].at(0).value);
  entries.push_back(Py::Dict{{"action", "annotate"}});  // known, and means nothing here
  entries.push_back(Py::Dict{{"action", "teleport"}});
  entries.push_back(Py::Dict{{"action", "teleport"}});
  const Trace trace = read(value);
  EXPECT_EQ(trace.devices[0].events.size(), 4U);
  EXPECT_THAT(
      trace.notes,
      ElementsAre("2 entries have the unknown action 'teleport' and are ignored.", kStartNote));
}

TEST(SnapshotReader, SeveralFailuresAreOneNote) {
  Py value = sample_snapshot();
  auto& entries = std::get<Py::List>(value["device_traces"].at(0).value);
  const Py oom = Py::Dict{{"action", "oom"}, {"size", 2 << 20}, {"device_free", 1 << 20}};
  entries.push_back(oom);
  entries.push_back(oom);
  EXPECT_THAT(read(value).notes[0],
              HasSubstr("ran out of memory 2 times, last, at entry 7: it asked "
                        "for 2 MiB while 1 MiB was free"));
}

TEST(SnapshotReader, OtherPicklesAreNoSnapshots) {
  EXPECT_EQ(error_of(Py("text")), "is a pickle of a text, not a memory snapshot");
  EXPECT_THAT(error_of(Py::Dict{{"state_dict", 1}}), HasSubstr("neither 'segments' nor"));
  EXPECT_THAT(error_of(Py::List{1}), HasSubstr("segment 0: it is a whole number, not a dict"));
  EXPECT_THAT(error_of(Py::List{}), HasSubstr("nothing to replay"));
  EXPECT_THAT(error_of(snapshot({}, {Py::List{}})), HasSubstr("nothing to replay"));
  EXPECT_THAT(read_snapshot("").error().message, HasSubstr("cut off"));
}

// Each change to the sample, and the sentence that must come of it.
TEST(SnapshotReader, WrongFieldsAreNamedWithTheirPlace) {
  const auto with_entry = [](const char* key, const Py& value) {
    Py sample = sample_snapshot();
    sample["device_traces"].at(0).at(2)[key] = value;
    return error_of(sample);
  };
  const auto with_block = [](const char* key, const Py& value) {
    Py sample = sample_snapshot();
    sample["segments"].at(0)["blocks"].at(3)[key] = value;
    return error_of(sample);
  };
  const auto with_segment = [](const char* key, const Py& value) {
    Py sample = sample_snapshot();
    sample["segments"].at(0)[key] = value;
    return error_of(sample);
  };
  const auto with_top = [](const char* key, const Py& value) {
    Py sample = sample_snapshot();
    sample[key] = value;
    return error_of(sample);
  };
  const std::int64_t huge = std::int64_t{1} << 62;
  const std::string prefix = "is no valid snapshot: ";
  EXPECT_EQ(with_entry("size", -1), prefix + "device 0, entry 2: 'size' is negative");
  EXPECT_EQ(with_entry("size", huge),
            prefix + "device 0, entry 2: 'size' is larger than 1152921504606846976");
  EXPECT_THAT(with_entry("size", 1.5), HasSubstr("'size' is a floating-point number"));
  EXPECT_THAT(with_entry("addr", "0x7f"), HasSubstr("'addr' is a text, not a whole number"));
  EXPECT_THAT(with_entry("action", 7), HasSubstr("'action' is a whole number, not a text"));
  EXPECT_THAT(with_entry("stream", Py{}), HasSubstr("'stream' is None"));
  EXPECT_THAT(with_entry("time_us", -5), HasSubstr("'time_us' is negative"));
  EXPECT_THAT(with_entry("time_us", huge), HasSubstr("'time_us' is larger than"));
  EXPECT_THAT(with_block("size", Py::List{}), HasSubstr("segment 0, block 3: 'size' is a list"));
  EXPECT_THAT(with_block("state", "asleep"), HasSubstr("'state' is 'asleep', which is not known"));
  EXPECT_THAT(with_block("state", 1), HasSubstr("'state' is a whole number"));
  EXPECT_THAT(with_block("requested_size", -1), HasSubstr("'requested_size' is negative"));
  EXPECT_THAT(with_block("address", -1), HasSubstr("'address' is negative"));
  EXPECT_THAT(with_segment("device", 1024), HasSubstr("segment 0: 'device' is larger than 1023"));
  EXPECT_THAT(with_segment("device", -1), HasSubstr("segment 0: 'device' is negative"));
  EXPECT_THAT(with_segment("total_size", huge), HasSubstr("'total_size' is larger than"));
  EXPECT_THAT(with_segment("blocks", 5), HasSubstr("'blocks' is a whole number, not a list"));
  EXPECT_THAT(with_top("segments", "x"), HasSubstr("the snapshot: 'segments' is a text"));
  EXPECT_THAT(with_top("device_traces", 5), HasSubstr("'device_traces' is a whole number"));
  EXPECT_THAT(with_top("device_traces", Py::List{5}),
              HasSubstr("the trace of device 0 is a whole number, not a list"));
  EXPECT_THAT(with_top("device_traces", Py::List{Py::List{5}}),
              HasSubstr("device 0, entry 0: it is a whole number, not a dict"));
}

TEST(SnapshotReader, MissingFieldsAreNamedWithTheirPlace) {
  for (const char* key : {"action", "addr", "size"}) {
    Py sample = sample_snapshot();
    sample["device_traces"].at(0).at(1).erase(key);
    EXPECT_EQ(error_of(sample),
              std::string("is no valid snapshot: device 0, entry 1: '") + key + "' is missing");
  }
  for (const char* key : {"size", "state"}) {
    Py sample = sample_snapshot();
    sample["segments"].at(0)["blocks"].at(1).erase(key);
    EXPECT_EQ(error_of(sample),
              std::string("is no valid snapshot: segment 0, block 1: '") + key + "' is missing");
  }
  Py nowhere = sample_snapshot();
  nowhere["segments"].at(0).erase("address");
  nowhere["segments"].at(0)["blocks"].at(0).erase("address");
  EXPECT_THAT(error_of(nowhere), HasSubstr("neither it nor its segment has an 'address'"));
}

TEST(SnapshotReader, ErrorsPointAtTheEntry) {
  Py sample = sample_snapshot();
  sample["device_traces"].at(0).at(5)["size"] = -1;
  const std::string pickle = pickled(sample);
  auto trace = read_snapshot(pickle);
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().offset, pickle.rfind('}'));
}

TEST(SnapshotReader, SumsBeyond64BitsAreRefused) {
  const std::int64_t most = std::int64_t{1} << 60;
  Py::List allocations;
  for (int i = 0; i < 5; ++i) allocations.push_back(entry("alloc", i, most, 0));
  EXPECT_THAT(error_of(snapshot({}, {Py(allocations)})), HasSubstr("live blocks add up to more"));
  Py::List segments;
  for (int i = 0; i < 5; ++i) segments.push_back(segment(0, i, most, {}));
  EXPECT_THAT(error_of(snapshot(segments, {})), HasSubstr("segments add up to more"));
  Py::List changes{entry("alloc", 1, 1, 0)};
  for (int i = 0; i < 5; ++i) changes.push_back(entry("segment_alloc", i, most, 0));
  EXPECT_THAT(error_of(snapshot({}, {Py(changes)})), HasSubstr("segments add up to more"));
}

// A list of a million references to one entry, referred to by a thousand devices: small in the
// file.
TEST(SnapshotReader, ReferencesToTheSameValuesDoNotMultiply) {
  std::string pickle =
      "\x80\x02}(U\x0d"
      "device_traces](](}(U\x06"
      "actionU\x05"
      "allocU\x04"
      "addrK\x01U\x04sizeK\x01u";
  pickle += "q\x01";
  for (int i = 0; i < 100'000; ++i) pickle += "h\x01";
  pickle += "eq\x02";
  for (int i = 0; i < 1000; ++i) pickle += "h\x02";
  pickle += "eu.";
  auto trace = read_snapshot(pickle);
  ASSERT_FALSE(trace);
  EXPECT_THAT(trace.error().message, HasSubstr("refers to the same values over and over"));
}

TEST(SnapshotReader, TooManyDevicesAreRefused) {
  EXPECT_THAT(error_of(snapshot({}, Py::List(1025, Py(Py::List{})))),
              HasSubstr("more than 1024 devices"));
}

}  // namespace
}  // namespace ferry::replay
