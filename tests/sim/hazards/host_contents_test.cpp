// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/host_contents.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

std::uint64_t address_of(const std::vector<unsigned char>& bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.data());
}

Touch read_of(const std::vector<unsigned char>& bytes, std::uint32_t member = kNoMember) {
  return {address_of(bytes), bytes.size(), AccessKind::read, member};
}

TEST(HostContents, NothingIsChangedAtFirst) {
  const std::vector<unsigned char> bytes(1000, 1);
  HostContents sources;
  EXPECT_FALSE(sources.find_changed());
  sources.remember(read_of(bytes));
  EXPECT_FALSE(sources.find_changed());
}

TEST(HostContents, AnyByteOfAnySourceCounts) {
  std::vector<unsigned char> first(1000, 1);
  std::vector<unsigned char> second(77, 2);
  HostContents sources;
  sources.remember(read_of(first, 3));
  sources.remember(read_of(second, 5));
  for (std::size_t i = 0; i < second.size(); ++i) {
    second[i] ^= 1;
    const auto changed = sources.find_changed();
    ASSERT_TRUE(changed) << "byte " << i;
    EXPECT_EQ(changed->address, address_of(second));
    EXPECT_EQ(changed->bytes, second.size());
    EXPECT_EQ(changed->member, 5U);
    second[i] ^= 1;
  }
  EXPECT_FALSE(sources.find_changed()) << "the same bytes again are no change";
}

}  // namespace
}  // namespace ferry::sim
