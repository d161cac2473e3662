// SPDX-License-Identifier: Apache-2.0
// What a framework says of its operators, in the place of kernels that are skipped.
#include <gmock/gmock.h>

#include <cstring>
#include <functional>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Ranges = std::vector<ferry_sim_range>;

constexpr std::size_t kBytes = 4096;

class OperatorsTest : public SimTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    restart(std::string("kernels=skipped;schedule=") + GetParam());
    memory = allocate(kBytes);
    host = static_cast<unsigned char*>(allocate_host(kBytes));
    one = stream();
    other = stream();
  }

  // An operator whose kernels touch the ranges; `body`: what it submits itself.
  static void run(
      const char* name, const char* place, CUstream on, const Ranges& ranges,
      const std::function<void()>& body = [] {}, const Ranges& inputs = {}) {
    ASSERT_EQ(ferry_sim_operator_begin(name, place, inputs.data(), inputs.size()), 0);
    body();
    EXPECT_EQ(ferry_sim_operator_touches(0, on, ranges.data(), ranges.size()), 0);
    ASSERT_EQ(ferry_sim_operator_end(), 0);
  }
  void end_storage(const std::vector<void*>& users = {}) const {
    EXPECT_EQ(
        ferry_sim_storage_end("train.py:9", 0, one, memory, kBytes, users.data(), users.size()), 0);
  }
  void let_wait(CUstream later, CUstream earlier) {
    const CUevent done = event();
    FERRY_OK(cuEventRecord(done, earlier));
    FERRY_OK(cuStreamWaitEvent(later, done, 0));
  }
  // What stands in the memory when the stream has come to it.
  int first_byte() {
    std::memset(host, 0xEE, kBytes);
    EXPECT_EQ(cuMemcpyDtoHAsync_v2(host, memory, kBytes, one), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(one), CUDA_SUCCESS);
    return host[0];
  }

  CUdeviceptr memory = 0;
  unsigned char* host = nullptr;
  CUstream one = nullptr;
  CUstream other = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Schedules, OperatorsTest,
                         testing::Values("eager", "lazy", "random;seed=1", "random;seed=2"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::erase_if(name,
                                         [](char letter) { return std::isalnum(letter) == 0; });
                           return name;
                         });

TEST_P(OperatorsTest, AMissingWaitIsNamedByOperatorsAndLines) {
  run("aten::mul", "train.py:3", one, {{memory, kBytes, 1}});
  testing::internal::CaptureStderr();
  run("aten::add", "train.py:5", other, {{memory, 16, 0}});
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("hazard: read after write without order: aten::mul (operation"),
                    HasSubstr("and aten::add (operation"), HasSubstr("from train.py:3\n"),
                    HasSubstr("from train.py:5\n"), HasSubstr("wait_stream")));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_P(OperatorsTest, AWaitOrdersThem) {
  run("aten::mul", "train.py:3", one, {{memory, kBytes, 1}});
  let_wait(other, one);
  run("aten::add", "train.py:5", other, {{memory, kBytes, 0}});
  run("aten::add", "train.py:6", one, {{memory, kBytes, 0}});
}

TEST_P(OperatorsTest, ACopyWithinAnOperatorIsNamedByIt) {
  run("aten::mul", "train.py:3", one, {{memory, kBytes, 1}});
  testing::internal::CaptureStderr();
  run("aten::copy_", "train.py:7", other, {},
      [&] { FERRY_OK(cuMemcpyDtoHAsync_v2(host, memory, kBytes, other)); });
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("and aten::copy_ (operation"), HasSubstr("from train.py:7\n")));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
  FERRY_OK(cuCtxSynchronize());
}

TEST_P(OperatorsTest, NewMemoryReadsAsZerosSaveWhereTheOperatorItselfWrote) {
  FERRY_OK(cuMemsetD8Async(memory, 7, kBytes, one));
  run("aten::relu", "", one, {{memory, kBytes, FERRY_SIM_WRITES_NEW}});
  EXPECT_EQ(first_byte(), 0);
  run("aten::zeros", "", one, {{memory, kBytes, FERRY_SIM_WRITES_NEW}},
      [&] { FERRY_OK(cuMemsetD8Async(memory, 9, kBytes / 2, one)); });
  EXPECT_EQ(first_byte(), 9);
  EXPECT_EQ(host[kBytes / 2], 0);
  run("aten::add_", "", one, {{memory, kBytes, 1}});
  EXPECT_EQ(first_byte(), 9) << "not new";
}

TEST_P(OperatorsTest, WhatAnOperatorReadsBackFromASkippedKernelIsZero) {
  FERRY_OK(cuMemsetD8Async(memory, 7, kBytes, one));
  const auto read_back = [&] { FERRY_OK(cuMemcpyDtoHAsync_v2(host, memory, kBytes, one)); };
  host[0] = host[kBytes - 1] = 1;
  run("aten::nonzero", "", one, {}, [&] {
    FERRY_OK(cuMemsetD8Async(memory, 9, kBytes, one));  // it was of use for something else before
    read_back();
  });
  FERRY_OK(cuStreamSynchronize(one));
  EXPECT_EQ(host[0], 0);
  EXPECT_EQ(host[kBytes - 1], 0);
  run("aten::item", "", one, {}, read_back, {{memory, 1, 0}});
  FERRY_OK(cuStreamSynchronize(one));
  EXPECT_EQ(host[0], 9) << "what it was given";
  read_back();
  FERRY_OK(cuStreamSynchronize(one));
  EXPECT_EQ(host[0], 9) << "outside an operator";
}

TEST_P(OperatorsTest, AStorageInUseElsewhereMayNotEnd) {
  run("aten::mul", "train.py:3", one, {{memory, kBytes, 1}});
  let_wait(other, one);
  run("aten::add", "train.py:5", other, {{memory + 64, 64, 0}});
  testing::internal::CaptureStderr();
  end_storage();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("a tensor's memory is given back while aten::add (operation"),
                    HasSubstr("from train.py:5\n"), HasSubstr("from train.py:9\n"),
                    HasSubstr("record_stream"), HasSubstr("64 bytes at offset 64 of")));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_P(OperatorsTest, AStorageMayEndAfterItsUsers) {
  run("aten::mul", "train.py:3", one, {{memory, kBytes, 1}});
  end_storage();  // its own stream's use
  let_wait(other, one);
  run("aten::add", "train.py:5", other, {{memory, kBytes, 0}});
  end_storage({other});  // record_stream
  let_wait(one, other);
  end_storage();  // wait_stream
  run("aten::add", "train.py:6", other, {{memory, kBytes, 0}});
  FERRY_OK(cuStreamSynchronize(other));
  end_storage();
}

TEST_P(OperatorsTest, ACapturedOperatorIsTakenUpByEachLaunch) {
  FERRY_OK(cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
  run("aten::relu", "train.py:4", one, {{memory, kBytes, FERRY_SIM_WRITES_NEW}});
  end_storage();
  CUgraph graph = nullptr;
  FERRY_OK(cuStreamEndCapture(one, &graph));
  CUgraphExec executable = nullptr;
  FERRY_OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  FERRY_OK(cuMemsetD8Async(memory, 7, kBytes, one));
  EXPECT_EQ(first_byte(), 7);
  FERRY_OK(cuGraphLaunch(executable, one));
  EXPECT_EQ(first_byte(), 0);
  FERRY_OK(cuGraphLaunch(executable, one));
  testing::internal::CaptureStderr();
  run("aten::add", "train.py:8", other, {{memory, 16, 0}});
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("aten::relu (operation"), HasSubstr("a node of a graph"),
                    HasSubstr("from train.py:4\n")));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
  FERRY_OK(cuCtxSynchronize());
  FERRY_OK(cuGraphExecDestroy(executable));
  FERRY_OK(cuGraphDestroy(graph));
}

TEST_P(OperatorsTest, SettledWorkHasRunAndIsStillUnordered) {
  FERRY_OK(cuMemsetD8Async(memory, 7, kBytes, one));
  EXPECT_EQ(ferry_sim_settle(), 0);
  auto* const view = static_cast<unsigned char*>(ferry_sim_host_view(memory, kBytes));
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(view[kBytes - 1], 7);
  view[0] = 8;
  EXPECT_EQ(first_byte(), 8);
  FERRY_OK(cuMemsetD8Async(memory, 7, kBytes, one));
  EXPECT_EQ(ferry_sim_settle(), 0);
  testing::internal::CaptureStderr();
  run("aten::add", "train.py:8", other, {{memory, 16, 0}});
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_P(OperatorsTest, WrongCallsAreRefused) {
  const ferry_sim_range host_range{reinterpret_cast<std::uintptr_t>(host), 8, 1};
  const ferry_sim_range range{memory, 8, 1};
  EXPECT_EQ(ferry_sim_operator_end(), -1);
  EXPECT_EQ(ferry_sim_operator_touches(0, one, &range, 1), -1) << "outside an operator";
  EXPECT_EQ(ferry_sim_operator_begin(nullptr, "", nullptr, 0), -1);
  EXPECT_EQ(ferry_sim_operator_begin("a", "", nullptr, 1), -1);
  ASSERT_EQ(ferry_sim_operator_begin("a", "", nullptr, 0), 0);
  EXPECT_EQ(ferry_sim_operator_touches(1, nullptr, &range, 1), -1) << "no such device";
  EXPECT_EQ(ferry_sim_operator_touches(0, host, &range, 1), -1) << "no such stream";
  EXPECT_EQ(ferry_sim_operator_touches(0, one, &host_range, 1), -1);
  EXPECT_EQ(ferry_sim_operator_touches(0, one, nullptr, 1), -1);
  EXPECT_EQ(ferry_sim_operator_touches(0, nullptr, &range, 1), 0) << "the default stream";
  ASSERT_EQ(ferry_sim_operator_end(), 0);
  EXPECT_EQ(ferry_sim_storage_end(nullptr, 0, one, memory, 8, nullptr, 0), -1);
  EXPECT_EQ(ferry_sim_storage_end("", 0, host, memory, 8, nullptr, 0), -1);
  EXPECT_EQ(ferry_sim_host_view(memory, 0), nullptr);
  EXPECT_EQ(ferry_sim_host_view(16, 16), nullptr);
}

}  // namespace
}  // namespace ferry::sim
