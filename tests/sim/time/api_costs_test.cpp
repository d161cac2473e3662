// SPDX-License-Identifier: Apache-2.0
#include "sim/time/api_costs.hpp"

#include <gtest/gtest.h>

#include "sim/time/round_profile.hpp"

namespace ferry::sim {
namespace {

using testing_time::kMicro;

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

Picoseconds growth(Symbol symbol, const Footprint& before, const Footprint& after) {
  return growing_cost(testing_time::round_profile(), price_of(symbol), before, after);
}

TEST(ApiCosts, EveryKindOfCallFindsItsPrice) {
  EXPECT_EQ(price_of(Symbol::cuMemAlloc_v2).call, &Profile::alloc);
  EXPECT_EQ(price_of(Symbol::cuMemFree_v2).call, &Profile::free);
  EXPECT_EQ(price_of(Symbol::cuMemCreate).call, &Profile::create);
  EXPECT_EQ(price_of(Symbol::cuMemMap).call, &Profile::map);
  EXPECT_EQ(price_of(Symbol::cuMemSetAccess).call, &Profile::set_access);
  EXPECT_EQ(price_of(Symbol::cuMemUnmap).call, &Profile::unmap);
  EXPECT_EQ(price_of(Symbol::cuMemRelease).call, &Profile::release);
  EXPECT_EQ(price_of(Symbol::cuMemAddressReserve).call, &Profile::reserve);
  EXPECT_EQ(price_of(Symbol::cuMemHostAlloc).call, &Profile::host_alloc);
  EXPECT_EQ(price_of(Symbol::cuMemHostRegister_v2).call, &Profile::host_register);
  EXPECT_EQ(price_of(Symbol::cuMemcpyHtoDAsync_v2).call, &Profile::copy);
  EXPECT_EQ(price_of(Symbol::cuMemcpy2DAsync_v2).call, &Profile::copy);
  EXPECT_EQ(price_of(Symbol::cuMemsetD2D32Async).call, &Profile::fill);
  EXPECT_EQ(price_of(Symbol::cuEventRecord).call, &Profile::event_record);
  EXPECT_EQ(price_of(Symbol::cuEventQuery).call, &Profile::query);
  EXPECT_EQ(price_of(Symbol::cuStreamSynchronize).call, &Profile::synchronize);
  EXPECT_EQ(price_of(Symbol::cuStreamWaitEvent).call, &Profile::stream_wait);
  EXPECT_EQ(price_of(Symbol::cuCtxGetCurrent).call, &Profile::call);
}

TEST(ApiCosts, MemoryCostsByTheMebibyteAndPartsOfIt) {
  Footprint before;
  before.device_bytes = 10 * kMebibyte;
  Footprint after = before;
  after.device_bytes += 3 * kMebibyte;
  EXPECT_EQ(growth(Symbol::cuMemAlloc_v2, before, after), 30 * kMicro);
  EXPECT_EQ(growth(Symbol::cuMemCreate, before, after), 6 * kMicro);
  EXPECT_EQ(growth(Symbol::cuMemAlloc_v2, before, before), 0) << "a call that failed";
  after = before;
  after.host_bytes += kMebibyte / 2;
  EXPECT_EQ(growth(Symbol::cuMemHostAlloc, before, after), 20 * kMicro);
  EXPECT_EQ(growth(Symbol::cuMemHostRegister_v2, before, after), 4 * kMicro);
  EXPECT_EQ(growth(Symbol::cuMemAlloc_v2, before, after), 0);
}

TEST(ApiCosts, MappingsCostOneByOne) {
  Footprint before;
  before.mappings = 5;
  Footprint after;
  after.mappings = 1;
  EXPECT_EQ(growth(Symbol::cuMemUnmap, before, after), 12 * kMicro) << "less counts as more";
  after.access_changes = 3;
  EXPECT_EQ(growth(Symbol::cuMemSetAccess, before, after), 6 * kMicro);
}

}  // namespace
}  // namespace ferry::sim
