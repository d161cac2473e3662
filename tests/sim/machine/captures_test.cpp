// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/captures.hpp"

#include <gtest/gtest.h>

#include "sim/machine/graphs.hpp"

namespace ferry::sim {
namespace {

class CapturesTest : public testing::Test {
 protected:
  Capture capture_in(CUstreamCaptureMode mode, std::uint64_t thread = 1) {
    Capture capture;
    capture.graph = graphs.create(Graph::Owner::capture);
    capture.mode = mode;
    capture.thread = thread;
    return capture;
  }
  CUgraphNode add(Graph& graph, std::vector<std::uint64_t> after = {}) {
    Submission work;
    work.node = EmptyNode{};
    return to_handle<CUgraphNode>(graphs.add_node(graph, std::move(work), 0, after).handle);
  }

  StreamEngine engine{Schedule::lazy, 0};
  StreamGroup& group = engine.create_group();
  Stream& origin = engine.create_stream(group, true);
  Stream& side = engine.create_stream(group, false);
  Graphs graphs;
  Captures captures;
};

TEST_F(CapturesTest, AStreamIsInOneUntilItEnds) {
  EXPECT_FALSE(captures.any());
  captures.begin(origin, capture_in(CU_STREAM_CAPTURE_MODE_GLOBAL), {});
  ASSERT_NE(captures.find(origin), nullptr);
  EXPECT_EQ(captures.find(side), nullptr);
  const auto capture = captures.find(origin)->capture;
  captures.join(side, capture, {});
  EXPECT_EQ(captures.find(side)->capture, capture);
  captures.end(*capture);
  EXPECT_TRUE(capture->ended);
  EXPECT_FALSE(captures.any());
  EXPECT_EQ(capture->graph->owner, Graph::Owner::program);
}

TEST_F(CapturesTest, IdsAreNeverGivenAgain) {
  captures.begin(origin, capture_in(CU_STREAM_CAPTURE_MODE_GLOBAL), {});
  const std::uint64_t first = captures.find(origin)->capture->id;
  captures.end(*captures.find(origin)->capture);
  captures.begin(origin, capture_in(CU_STREAM_CAPTURE_MODE_GLOBAL), {});
  EXPECT_NE(captures.find(origin)->capture->id, first);
}

TEST_F(CapturesTest, BlockingStreamsAreToldApart) {
  captures.begin(side, capture_in(CU_STREAM_CAPTURE_MODE_GLOBAL), {});
  EXPECT_NE(captures.find_in(group, false), nullptr);
  EXPECT_EQ(captures.find_in(group, true), nullptr);
  captures.begin(origin, capture_in(CU_STREAM_CAPTURE_MODE_GLOBAL), {});
  EXPECT_EQ(captures.find_in(group, true), captures.find(origin)->capture.get());
  EXPECT_EQ(captures.find_in(engine.create_group(), false), nullptr);
}

// The rules of cuThreadExchangeStreamCaptureMode, for a capture begun by thread 1.
TEST_F(CapturesTest, ModesSayWhomACaptureHinders) {
  constexpr auto kGlobal = CU_STREAM_CAPTURE_MODE_GLOBAL;
  constexpr auto kLocal = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
  constexpr auto kRelaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
  struct Case {
    CUstreamCaptureMode capture;
    std::uint64_t thread;
    CUstreamCaptureMode mode;
    bool hindered;
  };
  for (const Case& it : {Case{kGlobal, 1, kGlobal, true}, Case{kGlobal, 1, kLocal, true},
                         Case{kGlobal, 1, kRelaxed, false}, Case{kGlobal, 2, kGlobal, true},
                         Case{kGlobal, 2, kLocal, false}, Case{kGlobal, 2, kRelaxed, false},
                         Case{kLocal, 1, kGlobal, true}, Case{kLocal, 1, kLocal, true},
                         Case{kLocal, 2, kGlobal, false}, Case{kLocal, 2, kLocal, false},
                         Case{kRelaxed, 1, kGlobal, false}, Case{kRelaxed, 2, kGlobal, false}}) {
    captures.begin(origin, capture_in(it.capture), {});
    const auto capture = captures.find(origin)->capture;
    EXPECT_EQ(captures.invalidate_hindering(it.thread, it.mode), it.hindered)
        << it.capture << ' ' << it.thread << ' ' << it.mode;
    EXPECT_EQ(capture->invalidated, it.hindered);
    captures.end(*capture);
  }
}

TEST_F(CapturesTest, IsJoinedWhenAllLeadsToTheOrigin) {
  captures.begin(origin, capture_in(CU_STREAM_CAPTURE_MODE_GLOBAL), {});
  CapturingStream& in = *captures.find(origin);
  Graph& graph = *in.capture->graph;
  const CUgraphNode first = add(graph);
  in.after = {first};
  captures.join(side, in.capture, {first});
  EXPECT_TRUE(captures.is_joined(*in.capture)) << "nothing was done in the other stream";
  const CUgraphNode aside = add(graph, {value_of(first)});
  captures.find(side)->after = {aside};
  EXPECT_FALSE(captures.is_joined(*in.capture));
  in.after = {add(graph, {value_of(aside)})};
  EXPECT_TRUE(captures.is_joined(*in.capture));
}

TEST_F(CapturesTest, EndsWithItsOrigin) {
  captures.begin(origin, capture_in(CU_STREAM_CAPTURE_MODE_GLOBAL), {});
  const auto capture = captures.find(origin)->capture;
  captures.join(side, capture, {});
  captures.forget(side);
  EXPECT_FALSE(capture->invalidated) << "nothing was captured in it";
  EXPECT_TRUE(captures.is_joined(*capture));
  EXPECT_NE(captures.find(origin), nullptr);
  captures.join(side, capture, {});
  captures.forget_all_of(group);
  EXPECT_TRUE(capture->invalidated);
  EXPECT_TRUE(capture->ended);
  EXPECT_FALSE(captures.any());
}

}  // namespace
}  // namespace ferry::sim
