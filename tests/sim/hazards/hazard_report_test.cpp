// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/hazard_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Toucher copy_on(std::uint64_t stream, std::uint64_t operation, AccessKind kind) {
  Toucher who;
  who.lane = static_cast<LaneNumber>(stream);
  who.count = operation;
  who.operation = operation;
  who.stream = stream;
  who.symbol = Symbol::cuMemcpyDtoDAsync_v2;
  who.kind = kind;
  return who;
}

constexpr MemoryPlace kDevice{0x1000, 16, 0xF00, 4096, 2};
constexpr MemoryPlace kHost{0x5000, 8, 0x5000, 8, -1};

TEST(HazardReport, AVariableHasItsName) {
  MemoryPlace place = kDevice;
  place.variable = "counter";
  EXPECT_THAT(describe_use_after_free(copy_on(7, 9, AccessKind::read), place),
              HasSubstr("on device 2, the variable counter of a module\n"));
}

TEST(HazardReport, AUseAfterAFreeNamesTheUse) {
  const std::string text = describe_use_after_free(copy_on(7, 9, AccessKind::read), kDevice);
  EXPECT_THAT(text, AllOf(StartsWith("hazard: cuMemcpyDtoDAsync (operation 9) on stream 0x7 uses"),
                          HasSubstr("16 bytes at offset 256"), HasSubstr("reads it")));
}

TEST(HazardReport, ACollisionNamesBothSidesTheBytesAndTheRemedy) {
  EXPECT_EQ(
      describe_collision(copy_on(0x50, 7, AccessKind::write), copy_on(0x60, 9, AccessKind::read),
                         kDevice),
      "hazard: read after write without order: cuMemcpyDtoDAsync (operation 7) on stream 0x50 "
      "and cuMemcpyDtoDAsync (operation 9) on stream 0x60\n"
      "  memory:  [0x1000, 0x1010), 16 bytes at offset 256 of the 4096 bytes at 0xf00 on "
      "device 2\n"
      "  earlier: cuMemcpyDtoDAsync (operation 7) on stream 0x50 writes it\n"
      "  later:   cuMemcpyDtoDAsync (operation 9) on stream 0x60 reads it\n"
      "  remedy:  record an event on stream 0x50 after operation 7 and let stream 0x60 wait "
      "for it before operation 9, or synchronise with the host in between.\n");
}

TEST(HazardReport, AnAliasHasBothAddresses) {
  Toucher earlier = copy_on(0x50, 7, AccessKind::write);
  Toucher later = copy_on(0x60, 9, AccessKind::read);
  earlier.base = 0x100;
  later.base = 0x800;
  EXPECT_THAT(describe_collision(earlier, later, kDevice),
              HasSubstr("  memory:  [0x1000, 0x1010), 16 bytes at offset 256 of the 4096 bytes at "
                        "0xf00 on device 2\n"
                        "  alias:   of [0x900, 0x910), which the earlier one uses: both addresses "
                        "are mapped to the same physical memory\n"));
  later.base = earlier.base;
  EXPECT_THAT(describe_collision(earlier, later, kDevice), Not(HasSubstr("alias")));
}

TEST(HazardReport, NamesTheKindOfCollision) {
  const auto kind = [](AccessKind earlier, AccessKind later) {
    return describe_collision(copy_on(0x50, 7, earlier), copy_on(0x60, 9, later), kHost);
  };
  EXPECT_THAT(kind(AccessKind::read, AccessKind::write),
              StartsWith("hazard: write after read without order"));
  EXPECT_THAT(kind(AccessKind::write, AccessKind::write),
              StartsWith("hazard: write after write without order"));
}

TEST(HazardReport, ExplainsTheDefaultStream) {
  const Toucher on_default = copy_on(0, 7, AccessKind::write);
  EXPECT_THAT(describe_collision(on_default, copy_on(0x60, 9, AccessKind::read), kHost),
              AllOf(HasSubstr("the legacy default stream"), HasSubstr("CU_STREAM_NON_BLOCKING"),
                    HasSubstr("host memory [0x5000, 0x5008), 8 bytes")));
  EXPECT_THAT(
      describe_collision(copy_on(0x50, 7, AccessKind::write), copy_on(2, 9, AccessKind::read),
                         kHost),
      AllOf(HasSubstr("the per-thread default stream"), Not(HasSubstr("CU_STREAM_NON_BLOCKING"))));
}

TEST(HazardReport, ABatchHasItsOwnRemedy) {
  Toucher one = copy_on(0x50, 7, AccessKind::write);
  Toucher other = one;
  one.member = 37;
  other.member = 150;
  EXPECT_THAT(describe_collision(one, other, kHost),
              AllOf(HasSubstr("cuMemcpyDtoDAsync (operation 7, member 37) on stream 0x50 and "
                              "cuMemcpyDtoDAsync (operation 7, member 150) on stream 0x50\n"),
                    HasSubstr("two batches")));
}

TEST(HazardReport, NodesOfOneGraphHaveTheirsToo) {
  Toucher one_node = copy_on(0x50, 7, AccessKind::write);
  Toucher other_node = copy_on(0x50, 8, AccessKind::read);
  one_node.launch = other_node.launch = 6;
  EXPECT_THAT(describe_collision(one_node, other_node, kHost),
              AllOf(HasSubstr("(operation 7, a node of a graph)"), HasSubstr("an edge")));
  other_node.launch = 9;
  EXPECT_THAT(describe_collision(one_node, other_node, kHost), HasSubstr("record an event"));
}

TEST(HazardReport, ANodeHasThePlaceWhereItWasAddedAndTheOneOfItsLaunch) {
  const auto at = [](std::uintptr_t place) { return reinterpret_cast<const void*>(place + 1); };
  Toucher one = copy_on(0x50, 7, AccessKind::write);
  Toucher other = copy_on(0x50, 8, AccessKind::write);
  one.symbol = other.symbol = Symbol::cuGraphAddMemsetNode;
  one.site = at(0x10);
  other.site = at(0x20);
  one.launch = other.launch = 6;
  one.launch_site = other.launch_site = at(0x30);
  EXPECT_THAT(
      describe_collision(one, other, kHost),
      HasSubstr("  earlier: cuGraphAddMemsetNode (operation 7, a node of a graph) on stream "
                "0x50 writes it\n"
                "           from 0x10\n"
                "  later:   cuGraphAddMemsetNode (operation 8, a node of a graph) on stream "
                "0x50 writes it\n"
                "           from 0x20\n"
                "           launched from 0x30\n"));
  other.launch = 9;
  other.launch_site = at(0x40);
  EXPECT_THAT(describe_collision(one, other, kHost),
              AllOf(HasSubstr("           from 0x10\n           launched from 0x30\n"),
                    HasSubstr("           from 0x20\n           launched from 0x40\n")));
  EXPECT_THAT(describe_early_end(one, {Symbol::cuMemFree_v2}, kDevice),
              HasSubstr("           from 0x10\n           launched from 0x30\n"));
}

TEST(HazardReport, AnEarlyEndNamesTheCallAndWhatToWaitFor) {
  EXPECT_EQ(describe_early_end(copy_on(0x50, 7, AccessKind::read), {Symbol::cuMemFree_v2}, kDevice),
            "hazard: cuMemFree while cuMemcpyDtoDAsync (operation 7) on stream 0x50 may still use "
            "the memory\n"
            "  memory:  [0x1000, 0x1010), 16 bytes at offset 256 of the 4096 bytes at 0xf00 on "
            "device 2\n"
            "  in use:  cuMemcpyDtoDAsync (operation 7) on stream 0x50 reads it\n"
            "  remedy:  wait for operation 7 first: synchronise stream 0x50, or an event recorded "
            "after it.\n");
}

TEST(HazardReport, AChangedSourceNamesTheCopy) {
  EXPECT_THAT(describe_changed_memory(copy_on(0x50, 7, AccessKind::read), kHost),
              AllOf(StartsWith("hazard: the host changed the source of cuMemcpyDtoDAsync "
                               "(operation 7) on stream 0x50 before it ran\n"),
                    HasSubstr("[0x5000, 0x5008)"), HasSubstr("synchronise stream 0x50")));
}

TEST(HazardReport, AChangedDestinationIsCalledOne) {
  EXPECT_THAT(describe_changed_memory(copy_on(0x50, 7, AccessKind::write), kHost),
              AllOf(StartsWith("hazard: the host changed the destination of cuMemcpyDtoDAsync "),
                    HasSubstr("leave the destination alone until")));
}

TEST(HazardReport, GoneMemoryNamesTheCopy) {
  EXPECT_THAT(describe_gone_memory(copy_on(0x50, 7, AccessKind::read), kHost),
              AllOf(StartsWith("hazard: the host gave memory of cuMemcpyDtoDAsync (operation 7) on "
                               "stream 0x50 back to the system before it ran\n"),
                    HasSubstr("[0x5000, 0x5008)"), HasSubstr("after operation 7")));
}

}  // namespace
}  // namespace ferry::sim
