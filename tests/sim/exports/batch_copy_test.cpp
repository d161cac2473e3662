// SPDX-License-Identifier: Apache-2.0
// The freedom of batch copies made use of: what a program relies on that it may not shows here.
// What batches move and refuse is judged by the conformance suite.
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

constexpr std::size_t kPart = 1024;

class ExportsBatchCopyTest : public SimTest {
 protected:
  void SetUp() override { restart("schedule=lazy"); }

  static CUresult batch(std::vector<CUdeviceptr> to, std::vector<CUdeviceptr> from,
                        CUmemcpySrcAccessOrder order, CUstream stream) {
    std::vector<std::size_t> sizes(to.size(), kPart);
    CUmemcpyAttributes attributes{};
    attributes.srcAccessOrder = order;
    std::size_t first = 0;
    return cuMemcpyBatchAsync_v2(to.data(), from.data(), sizes.data(), sizes.size(), &attributes,
                                 &first, 1, stream);
  }
  static CUdeviceptr filled(unsigned value) {
    const CUdeviceptr device = allocate(kPart);
    EXPECT_EQ(cuMemsetD32_v2(device, value, kPart / 4), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
    return device;
  }
};

TEST_F(ExportsBatchCopyTest, MembersThatDependOnEachOtherAreAHazard) {
  const CUstream a_stream = stream();
  const CUdeviceptr a = filled(1);
  const CUdeviceptr b = filled(2);
  const CUdeviceptr c = filled(3);
  FERRY_OK(batch({b, c}, {a, b}, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, a_stream));
  FERRY_OK(cuStreamSynchronize(a_stream));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
  EXPECT_EQ(peek(c), 2U) << "the second ran first";
}

TEST_F(ExportsBatchCopyTest, OverlappingDestinationsAreAHazard) {
  const CUstream a_stream = stream();
  const CUdeviceptr a = filled(1);
  const CUdeviceptr b = filled(2);
  const CUdeviceptr c = filled(3);
  FERRY_OK(batch({c, c}, {a, b}, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, a_stream));
  FERRY_OK(cuStreamSynchronize(a_stream));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
  EXPECT_EQ(peek(c), 1U);
}

TEST_F(ExportsBatchCopyTest, MembersMayReadTheSameBytes) {
  const CUstream a_stream = stream();
  const CUdeviceptr a = filled(1);
  FERRY_OK(batch({filled(2), filled(3)}, {a, a}, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, a_stream));
  FERRY_OK(cuStreamSynchronize(a_stream));
  EXPECT_EQ(ferry_sim_take_hazards(), 0U);
}

TEST_F(ExportsBatchCopyTest, ASourceReadDuringTheCallDoesNotWaitForTheStream) {
  const CUstream a_stream = stream();
  const CUdeviceptr a = filled(1);
  const CUdeviceptr b = filled(2);
  FERRY_OK(cuMemsetD32Async(a, 7, kPart / 4, a_stream));
  FERRY_OK(batch({b}, {a}, CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL, a_stream));
  FERRY_OK(cuStreamSynchronize(a_stream));
  EXPECT_EQ(peek(b), 1U) << "what was there at the call";
  EXPECT_EQ(ferry_sim_take_hazards(), 1U) << "nothing says that the fill comes first";
}

TEST_F(ExportsBatchCopyTest, ASourceReadAtAnyTimeIsNotInStreamOrder) {
  const CUstream a_stream = stream();
  const CUdeviceptr a = filled(1);
  const CUdeviceptr b = filled(2);
  FERRY_OK(cuMemsetD32Async(a, 7, kPart / 4, a_stream));
  FERRY_OK(batch({b}, {a}, CU_MEMCPY_SRC_ACCESS_ORDER_ANY, a_stream));
  FERRY_OK(cuStreamSynchronize(a_stream));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_F(ExportsBatchCopyTest, AChangedSourceIsNamedUnlessItWasReadDuringTheCall) {
  const CUstream a_stream = stream();
  const CUdeviceptr device = filled(1);
  std::vector<std::uint32_t> host(kPart / 4, 5);
  const auto source = reinterpret_cast<CUdeviceptr>(host.data());
  FERRY_OK(batch({device}, {source}, CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL, a_stream));
  host[0] = 6;
  FERRY_OK(cuStreamSynchronize(a_stream));
  EXPECT_EQ(ferry_sim_take_hazards(), 0U);
  EXPECT_EQ(peek(device), 5U);
  FERRY_OK(batch({device}, {source}, CU_MEMCPY_SRC_ACCESS_ORDER_ANY, a_stream));
  host[0] = 7;
  FERRY_OK(cuStreamSynchronize(a_stream));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U) << "one member, although two operations read it";
}

TEST_F(ExportsBatchCopyTest, AReportNamesTheMembersByTheirIndex) {
  const CUstream a_stream = stream();
  const CUdeviceptr source = filled(1);
  const CUdeviceptr free_of_it = filled(2);
  const CUdeviceptr shared = filled(3);
  std::vector<CUdeviceptr> to{shared, free_of_it, shared, shared + 64};
  std::vector<CUdeviceptr> from(4, source);
  std::vector<std::size_t> sizes{0, kPart, 64, 64};
  sizes[3] = kPart - 64;
  to[2] = shared + 32;
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  std::size_t first = 0;
  testing::internal::CaptureStderr();
  FERRY_OK(cuMemcpyBatchAsync_v2(to.data(), from.data(), sizes.data(), 4, &attributes, &first, 1,
                                 a_stream));
  FERRY_OK(cuStreamSynchronize(a_stream));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_NE(printed.find(", member 2) on stream"), std::string::npos) << printed;
  EXPECT_NE(printed.find(", member 3) on stream"), std::string::npos) << printed;
}

// Rows that overlap in many places are one conflict of two members.
TEST_F(ExportsBatchCopyTest, AConflictOfTwoMembersCountsOnce) {
  const CUstream a_stream = stream();
  const CUdeviceptr source = filled(1);
  const CUdeviceptr shared = filled(2);
  std::array<CUDA_MEMCPY3D_BATCH_OP, 2> rows{};
  for (CUDA_MEMCPY3D_BATCH_OP& member : rows) {
    member.src.type = member.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    member.src.op.ptr = {source, 128, 0, {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    member.dst.op.ptr = {shared, 128, 0, {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    member.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    member.extent = {64, 8, 1};
  }
  rows[1].dst.op.ptr.ptr += 32;
  FERRY_OK(cuMemcpy3DBatchAsync_v2(rows.size(), rows.data(), 0, a_stream));
  FERRY_OK(cuStreamSynchronize(a_stream));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

// A source that may be read at any time is read by an operation of its own, which counts for
// nothing more: neither where others write it, nor where it is freed.
TEST_F(ExportsBatchCopyTest, ASourceReadAtAnyTimeCountsOnce) {
  const CUstream a_stream = stream();
  const CUdeviceptr a = filled(1);
  const CUdeviceptr b = filled(2);
  FERRY_OK(cuMemsetD32Async(a, 7, kPart / 4, stream()));
  FERRY_OK(batch({b}, {a}, CU_MEMCPY_SRC_ACCESS_ORDER_ANY, a_stream));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U) << "the fill before it";
  FERRY_OK(cuMemsetD32Async(a, 8, kPart / 4, stream()));
  EXPECT_EQ(ferry_sim_take_hazards(), 2U) << "the batch and the other fill";
  FERRY_OK(cuCtxSynchronize());
  FERRY_OK(batch({b}, {a}, CU_MEMCPY_SRC_ACCESS_ORDER_ANY, a_stream));
  FERRY_OK(cuMemFree_v2(a));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_F(ExportsBatchCopyTest, TheOlderVariantTellsWhichCopyWasRefused) {
  const CUstream a_stream = stream();
  std::vector<CUdeviceptr> to{filled(1), 0};
  std::vector<CUdeviceptr> from{filled(2), filled(3)};
  std::vector<std::size_t> sizes{kPart, kPart};
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  std::size_t first = 0;
  std::size_t failed = 77;
  EXPECT_EQ(cuMemcpyBatchAsync(to.data(), from.data(), sizes.data(), 2, &attributes, &first, 1,
                               &failed, a_stream),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(failed, 1U);
  first = 1;
  EXPECT_EQ(cuMemcpyBatchAsync(to.data(), from.data(), sizes.data(), 2, &attributes, &first, 1,
                               &failed, a_stream),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(failed, ~std::size_t{0}) << "no copy in particular";
  EXPECT_EQ(peek(to[0]), 1U) << "a refused batch moves nothing";
}

TEST_F(ExportsBatchCopyTest, ThePerThreadVariantMayBeGivenTheNullStream) {
  std::vector<CUdeviceptr> to{filled(1)};
  std::vector<CUdeviceptr> from{filled(2)};
  std::vector<std::size_t> sizes{kPart};
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  std::size_t first = 0;
  FERRY_OK(cuMemcpyBatchAsync_v2_ptsz(to.data(), from.data(), sizes.data(), 1, &attributes, &first,
                                      1, nullptr));
  FERRY_OK(cuStreamSynchronize_ptsz(nullptr));
  EXPECT_EQ(peek(to[0]), 2U);
}

}  // namespace
}  // namespace ferry::sim
