// SPDX-License-Identifier: Apache-2.0
#include "base/ids.hpp"

#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>

namespace ferry {
namespace {

// A 0 or nullptr by mistake must not become a stream.
static_assert(!std::is_convertible_v<void*, StreamRef>);
static_assert(!std::is_constructible_v<StreamRef, std::nullptr_t>);
static_assert(!std::is_constructible_v<StreamRef, int>);

TEST(Ids, DeviceAddressesAddBytesAndSubtractToBytes) {
  const DeviceAddress base{0x1000};
  EXPECT_EQ(base + 512_B, DeviceAddress{0x1200});
  EXPECT_EQ((base + 4_KiB) - base, 4_KiB);
  EXPECT_FALSE(base.is_null());
  EXPECT_TRUE(DeviceAddress{}.is_null());
  EXPECT_LT(base, base + 1_B);
}

TEST(Ids, StreamsKeepTheirHandle) {
  int something = 0;
  const StreamRef stream(&something);
  EXPECT_EQ(stream.native(), &something);
  EXPECT_NE(stream, StreamRef::legacy_default());
  EXPECT_EQ(StreamRef::legacy_default().native(), nullptr);
}

TEST(Ids, HashesTellThemApart) {
  int a = 0;
  int b = 0;
  const std::unordered_set<StreamRef> streams{StreamRef(&a), StreamRef(&b), StreamRef(&a)};
  EXPECT_EQ(streams.size(), 2U);
  const std::unordered_set<DeviceAddress> addresses{DeviceAddress{1}, DeviceAddress{2}};
  EXPECT_TRUE(addresses.contains(DeviceAddress{2}));
  EXPECT_FALSE(addresses.contains(DeviceAddress{3}));
}

}  // namespace
}  // namespace ferry
