// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/host_sources.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

std::uint64_t address_of(const std::vector<unsigned char>& bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.data());
}

TEST(HostSources, NothingIsChangedAtFirst) {
  const std::vector<unsigned char> bytes(1000, 1);
  HostSources sources;
  EXPECT_FALSE(sources.find_changed());
  sources.remember(address_of(bytes), bytes.size());
  EXPECT_FALSE(sources.find_changed());
}

TEST(HostSources, AnyByteOfAnySourceCounts) {
  std::vector<unsigned char> first(1000, 1);
  std::vector<unsigned char> second(77, 2);
  HostSources sources;
  sources.remember(address_of(first), first.size());
  sources.remember(address_of(second), second.size());
  for (std::size_t i = 0; i < second.size(); ++i) {
    second[i] ^= 1;
    const auto changed = sources.find_changed();
    ASSERT_TRUE(changed) << "byte " << i;
    EXPECT_EQ(changed->address, address_of(second));
    EXPECT_EQ(changed->bytes, second.size());
    second[i] ^= 1;
  }
  EXPECT_FALSE(sources.find_changed()) << "the same bytes again are no change";
}

}  // namespace
}  // namespace ferry::sim
