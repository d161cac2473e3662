// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/copy_notes.hpp"

#include <cstring>

#include "sim/traffic_fixture.hpp"

namespace ferry::sim {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kBytes = 4096;

class CopyNotesTest : public TrafficTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    TrafficTest::SetUp();
    restart(std::string("devices=2;schedule=") + GetParam());
    memory = allocate(kBytes);
    pinned = static_cast<unsigned char*>(allocate_host(kBytes));
    std::memset(pinned, 1, kBytes);
    on = stream();
  }

  CUdeviceptr memory = 0;
  unsigned char* pinned = nullptr;
  std::vector<unsigned char> pageable = std::vector<unsigned char>(kBytes, 2);
  CUstream on = nullptr;
};

TEST_P(CopyNotesTest, EachWayIsNamedWithItsBytesAndTheHostsMemory) {
  FERRY_OK(cuMemcpyHtoDAsync_v2(memory, pinned, kBytes, on));
  FERRY_OK(cuMemcpyDtoDAsync_v2(memory, memory + kBytes / 2, 256, on));
  FERRY_OK(cuStreamSynchronize(on));
  FERRY_OK(cuMemcpyDtoH_v2(pageable.data(), memory, 100));
  const std::vector<Json> copies = recorded("copy");
  ASSERT_EQ(copies.size(), 3U);
  EXPECT_EQ(copies[0]["way"], "to_device");
  EXPECT_EQ(copies[0]["bytes"], kBytes);
  EXPECT_EQ(copies[0]["pinned"], true);
  EXPECT_EQ(copies[0]["blocks"], false);
  EXPECT_EQ(copies[0]["call"], "cuMemcpyHtoDAsync");
  EXPECT_EQ(copies[1]["way"], "on_device");
  EXPECT_FALSE(copies[1].contains("digest"));
  EXPECT_EQ(copies[2]["way"], "to_host");
  EXPECT_EQ(copies[2]["pinned"], false);
  EXPECT_EQ(copies[2]["blocks"], true);
}

TEST_P(CopyNotesTest, TheSameBytesHaveTheSameDigestBothWays) {
  FERRY_OK(cuMemcpyHtoDAsync_v2(memory, pinned, kBytes, on));
  FERRY_OK(cuMemcpyDtoHAsync_v2(pinned, memory, kBytes, on));
  FERRY_OK(cuStreamSynchronize(on));
  FERRY_OK(cuMemcpyHtoD_v2(memory, pageable.data(), kBytes));
  const std::vector<Json> copies = recorded("copy");
  ASSERT_EQ(copies.size(), 3U);
  EXPECT_EQ(copies[0]["digest"], copies[1]["digest"]);
  EXPECT_NE(copies[0]["digest"], copies[2]["digest"]);
}

TEST_P(CopyNotesTest, RowsAreOneCopy) {
  CUDA_MEMCPY2D rows{};
  rows.srcMemoryType = CU_MEMORYTYPE_HOST;
  rows.srcHost = pinned;
  rows.srcPitch = 64;
  rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  rows.dstDevice = memory;
  rows.dstPitch = 128;
  rows.WidthInBytes = 32;
  rows.Height = 4;
  FERRY_OK(cuMemcpy2D_v2(&rows));
  const std::vector<Json> copies = recorded("copy");
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(copies[0]["bytes"], 128);
  EXPECT_TRUE(copies[0].contains("digest"));
}

TEST_P(CopyNotesTest, MembersOfABatchAreCopiesOfTheirOwn) {
  CUdeviceptr to[] = {memory, memory + 1024};
  CUdeviceptr from[] = {reinterpret_cast<CUdeviceptr>(pinned),
                        reinterpret_cast<CUdeviceptr>(pinned) + 2048};
  std::size_t sizes[] = {512, 64};
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  std::size_t first = 0;
  FERRY_OK(cuMemcpyBatchAsync_v2(to, from, sizes, 2, &attributes, &first, 1, on));
  FERRY_OK(cuStreamSynchronize(on));
  const std::vector<Json> copies = recorded("copy");
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_EQ(copies[0]["bytes"], 512);
  EXPECT_EQ(copies[1]["bytes"], 64);
  EXPECT_EQ(copies[1]["way"], "to_device");
}

TEST_P(CopyNotesTest, EveryLaunchOfAGraphCopies) {
  FERRY_OK(cuStreamBeginCapture_v2(on, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  FERRY_OK(cuMemcpyHtoDAsync_v2(memory, pinned, kBytes, on));
  CUgraph graph = nullptr;
  FERRY_OK(cuStreamEndCapture(on, &graph));
  CUgraphExec executable = nullptr;
  FERRY_OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  for (int launch = 0; launch < 2; ++launch) FERRY_OK(cuGraphLaunch(executable, on));
  FERRY_OK(cuStreamSynchronize(on));
  const std::vector<Json> copies = recorded("copy");
  ASSERT_EQ(copies.size(), 2U) << "the capture itself copies nothing";
  EXPECT_EQ(copies[1]["way"], "to_device");
}

TEST_P(CopyNotesTest, FillsAndKernelsAndWordsAreNone) {
  FERRY_OK(cuMemsetD8Async(memory, 1, kBytes, on));
  FERRY_OK(cuStreamWriteValue32_v2(on, memory, 1, 0));
  FERRY_OK(cuStreamSynchronize(on));
  EXPECT_TRUE(recorded("copy").empty());
}

TEST_P(CopyNotesTest, WaitsAreNamedByTheOperatorThatMakesThem) {
  FERRY_OK(cuStreamSynchronize(on));
  ASSERT_EQ(ferry_sim_operator_begin("aten::item", "train.py:4", nullptr, 0), 0);
  FERRY_OK(cuMemcpyDtoH_v2(pinned, memory, 4));
  FERRY_OK(cuCtxSynchronize());
  ASSERT_EQ(ferry_sim_operator_end(), 0);
  const std::vector<Json> waits = recorded("wait");
  ASSERT_EQ(waits.size(), 2U);
  EXPECT_EQ(waits[0]["call"], "cuStreamSynchronize");
  EXPECT_EQ(waits[1]["operator"], "aten::item");
  EXPECT_EQ(waits[1]["place"], "train.py:4");
  EXPECT_EQ(recorded("copy").at(0)["operator"], "aten::item");
}

TEST_P(CopyNotesTest, MarksStandBetweenTheCalls) {
  FERRY_OK(cuMemcpyHtoDAsync_v2(memory, pinned, 16, on));
  EXPECT_EQ(ferry_sim_traffic_mark("phase", "backward", 2), 0);
  FERRY_OK(cuMemcpyHtoDAsync_v2(memory, pinned, 16, on));
  FERRY_OK(cuStreamSynchronize(on));
  EXPECT_EQ(ferry_sim_traffic_mark("phrase", "backward", 2), -1);
  EXPECT_EQ(ferry_sim_traffic_mark("phase", nullptr, 2), -1);
  const std::vector<Json> marks = recorded("mark");
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0]["name"], "backward");
  EXPECT_EQ(marks[0]["in_use_bytes"].size(), 2U);
  EXPECT_GE(marks[0]["in_use_bytes"][0], kBytes);
  EXPECT_EQ(recorded("copy").at(0)["mark"], 0);
  EXPECT_EQ(recorded("copy").at(1)["mark"], 1);
}

INSTANTIATE_TEST_SUITE_P(Schedules, CopyNotesTest,
                         testing::Values("eager", "lazy", "random;seed=1", "random;seed=2"),
                         [](const auto& schedule) {
                           std::string name = schedule.param;
                           std::erase_if(name,
                                         [](unsigned char c) { return std::isalnum(c) == 0; });
                           return name;
                         });

}  // namespace
}  // namespace ferry::sim
