// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/address_space.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "sim/memory/frame_window.hpp"

namespace ferry::sim {
namespace {

TEST(AddressSpace, IsLargeAndAligned) {
  AddressSpace space;
  ASSERT_GE(space.size(), std::uint64_t{8} << 30);
  const auto start = space.take(1, 0);
  ASSERT_TRUE(start);
  EXPECT_EQ(*start % kFrameBytes, 0U);
  EXPECT_TRUE(space.contains(*start));
  const auto next = space.take(kFrameBytes, 1 << 30);
  ASSERT_TRUE(next);
  EXPECT_EQ(*next % (1 << 30), 0U);
  EXPECT_GE(*next, *start + kFrameBytes) << "sizes are rounded up to frames";
}

TEST(AddressSpace, KnowsWhatIsOutside) {
  AddressSpace space;
  int on_the_stack = 0;
  EXPECT_FALSE(space.contains(reinterpret_cast<std::uintptr_t>(&on_the_stack)));
  EXPECT_FALSE(space.contains(0));
  EXPECT_FALSE(space.take(space.size() + 1, 0));
}

TEST(AddressSpace, TheMirrorLiesOutsideAndTakesWhatIsMappedThere) {
  AddressSpace space;
  const std::uint64_t last = space.start() + space.size() - kFrameBytes;
  std::byte* const mirror = space.mirror_of(last);
  EXPECT_FALSE(space.contains(reinterpret_cast<std::uintptr_t>(mirror)));
  EXPECT_EQ(space.mirror_of(space.start()) + (last - space.start()), mirror);
  ASSERT_EQ(mprotect(mirror, kFrameBytes, PROT_READ | PROT_WRITE), 0) << "it is the space's own";
  mirror[kFrameBytes - 1] = std::byte{1};
}

TEST(AddressSpace, HintsAreTakenWhenFree) {
  AddressSpace space;
  const std::uint64_t start = *space.take(kFrameBytes, 0);
  const std::uint64_t wanted = start + 64 * kFrameBytes;
  EXPECT_EQ(space.take(kFrameBytes, 0, wanted), wanted);
  EXPECT_NE(space.take(kFrameBytes, 0, wanted), wanted) << "taken by now";
  space.give(wanted, kFrameBytes);
  EXPECT_EQ(space.take(kFrameBytes, 0, wanted), wanted);
}

TEST(AddressSpace, FreedAddressesStayUnusedForLong) {
  AddressSpace space;
  const std::uint64_t first = *space.take(kFrameBytes, 0);
  space.give(first, kFrameBytes);
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t other = *space.take(kFrameBytes, 0);
    ASSERT_NE(other, first);
    space.give(other, kFrameBytes);
  }
}

TEST(AddressSpaceDeathTest, TheHostMayNotTouchIt) {
  AddressSpace space;
  const auto* const word = reinterpret_cast<const volatile int*>(*space.take(kFrameBytes, 0));
  EXPECT_DEATH({ [[maybe_unused]] const int seen = *word; }, "");
}

}  // namespace
}  // namespace ferry::sim
