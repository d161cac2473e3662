// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/peer_access.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

Settings two_devices() {
  Settings settings;
  settings.devices = 2;
  return settings;
}

struct Bench {
  HazardLog log;
  Machine machine{two_devices(), {0, 1}, log};
  Context& ours = machine.contexts.create(0, 0);
  Context& theirs = machine.contexts.create(1, 0);
  Context& neighbour = machine.contexts.create(0, 0);
};

TEST(PeerAccess, EnablingGivesTheRightToWhatIsThere) {
  Bench bench;
  const std::uint64_t memory =
      bench.machine.allocations.allocate(bench.theirs.handle, 1, 4096).value();
  const auto access = [&] { return bench.machine.pages.find(memory)->rights.of(0); };
  EXPECT_EQ(access(), Access::none);
  EXPECT_EQ(enable_peer_access(bench.machine, bench.ours, bench.theirs), CUDA_SUCCESS);
  EXPECT_EQ(access(), Access::read_write);
  EXPECT_EQ(disable_peer_access(bench.machine, bench.ours, bench.theirs), CUDA_SUCCESS);
  EXPECT_EQ(access(), Access::none);
}

TEST(PeerAccess, AContextThatEndsTakesItsRightsAlong) {
  Bench bench;
  EXPECT_EQ(enable_peer_access(bench.machine, bench.ours, bench.theirs), CUDA_SUCCESS);
  EXPECT_EQ(rights_to_memory_of(bench.machine, bench.theirs).of(0), Access::read_write);
  forget_peers(bench.machine, bench.ours);
  EXPECT_EQ(rights_to_memory_of(bench.machine, bench.theirs).of(0), Access::none);
  EXPECT_EQ(disable_peer_access(bench.machine, bench.ours, bench.theirs),
            CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}

TEST(PeerAccess, CopiesReachThePlainMemoryOfEveryDevice) {
  Bench bench;
  const std::uint64_t memory =
      bench.machine.allocations.allocate(bench.theirs.handle, 1, 4096).value();
  const Reach plain = reach_of_copy(bench.machine, 0, memory, 7);
  EXPECT_EQ(plain.destination, 1);
  EXPECT_EQ(plain.source, 0) << "of the host, or nowhere: the copy's own device counts";
  bench.machine.pages.find(memory)->kind = Mapping::Kind::pool_allocation;
  EXPECT_EQ(reach_of_copy(bench.machine, 0, memory, memory).destination, 0)
      << "who may use a pool is said by its own rights";
}

TEST(PeerAccess, OneDeviceHasNoPeers) {
  Bench bench;
  EXPECT_EQ(enable_peer_access(bench.machine, bench.ours, bench.neighbour),
            CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  EXPECT_EQ(enable_peer_access(bench.machine, bench.ours, bench.ours), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace
}  // namespace ferry::sim
