// SPDX-License-Identifier: Apache-2.0
// Which stream the null stream is, seen under the lazy schedule.
#include <set>

#include "sim/sim_fixture.hpp"
#include "sim/words/symbols.hpp"

namespace ferry::sim {
namespace {

class ExportsPerThreadTest : public SimTest {
 protected:
  void SetUp() override {
    restart("schedule=lazy");
    device = allocate(4096);
  }
  CUdeviceptr device = 0;
};

TEST_F(ExportsPerThreadTest, EveryVariantHasAPlainOne) {
  std::set<std::string_view> plain;
  for (const SymbolRow& row : kSymbols) {
    if (!row.per_thread) plain.insert(row.elf_name);
  }
  for (const SymbolRow& row : kSymbols) {
    if (!row.per_thread) continue;
    EXPECT_TRUE(plain.contains(row.elf_name.substr(0, row.elf_name.size() - 5))) << row.elf_name;
  }
}

TEST_F(ExportsPerThreadTest, TheNullStreamIsTheThreadsOwn) {
  FERRY_OK(cuMemsetD32Async_ptsz(device, 4, 1024, nullptr));
  EXPECT_EQ(peek(device), kUnwritten);
  FERRY_OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
  EXPECT_EQ(peek(device), 4U);
}

TEST_F(ExportsPerThreadTest, NamedStreamsStayWhatTheyAre) {
  const CUstream a_stream = stream();
  FERRY_OK(cuMemsetD32Async_ptsz(device, 5, 1024, a_stream));
  FERRY_OK(cuStreamSynchronize_ptsz(nullptr));
  EXPECT_EQ(peek(device), kUnwritten);
  FERRY_OK(cuStreamSynchronize_ptsz(a_stream));
  EXPECT_EQ(peek(device), 5U);
  FERRY_OK(cuMemsetD32Async_ptsz(device, 6, 1024, CU_STREAM_LEGACY));
  EXPECT_EQ(cuStreamQuery(CU_STREAM_LEGACY), CUDA_ERROR_NOT_READY);
  FERRY_OK(cuStreamSynchronize(CU_STREAM_LEGACY));
  EXPECT_EQ(peek(device), 6U);
}

TEST_F(ExportsPerThreadTest, SynchronousCopiesWaitForTheThreadsStreamAlone) {
  const CUdeviceptr other = allocate(4096);
  FERRY_OK(cuMemsetD32_v2_ptds(device, 7, 1024));
  const CUstream a_stream = stream();
  FERRY_OK(cuMemsetD32Async(other, 8, 1024, a_stream));
  std::uint32_t word = 0;
  FERRY_OK(cuMemcpyDtoH_v2_ptds(&word, device, 4));
  EXPECT_EQ(word, 7U);
  EXPECT_EQ(peek(other), kUnwritten) << "nothing asked for it";
}

TEST_F(ExportsPerThreadTest, EventsAreRecordedOnTheThreadsStream) {
  const CUevent done = event();
  FERRY_OK(cuMemsetD32Async_ptsz(device, 9, 1024, nullptr));
  FERRY_OK(cuEventRecord_ptsz(done, nullptr));
  FERRY_OK(cuEventSynchronize(done));
  EXPECT_EQ(peek(device), 9U);
}

TEST_F(ExportsPerThreadTest, CallsAreCountedByTheBaseName) {
  const std::uint64_t before = ferry_sim_calls("cuStreamQuery");
  FERRY_OK(cuStreamQuery_ptsz(nullptr));
  EXPECT_EQ(ferry_sim_calls("cuStreamQuery"), before + 1);
}

}  // namespace
}  // namespace ferry::sim
