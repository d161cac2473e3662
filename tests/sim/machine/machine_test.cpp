// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/machine.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

Settings two_devices(Schedule schedule) {
  Settings settings;
  settings.capacity = 64_MiB;
  settings.schedule = schedule;
  return settings;
}

TEST(Machine, HasTheVisibleDevices) {
  HazardLog log;
  const Machine machine(two_devices(Schedule::eager), {3, 1}, log);
  EXPECT_EQ(machine.devices(), 2);
  EXPECT_TRUE(machine.has_device(1));
  EXPECT_FALSE(machine.has_device(2));
  EXPECT_FALSE(machine.has_device(-1));
}

TEST(Machine, EmptyingAContextRunsItsWorkAndTakesWhatItOwns) {
  std::mutex mutex;
  Lock lock(mutex);
  HazardLog log;
  Machine machine(two_devices(Schedule::lazy), {0}, log);
  Context& context = machine.contexts.create(0, 0);
  Context& other = machine.contexts.create(0, 0);
  const std::uint64_t handle = context.handle;
  const std::uint64_t mine = machine.allocations.allocate(handle, 0, 1000).value();
  const std::uint64_t theirs = machine.allocations.allocate(other.handle, 0, 1000).value();
  EventEntry recorded;
  recorded.context = handle;
  const std::uint64_t event = machine.events.add(std::move(recorded));
  const std::uint64_t stream = machine.streams.add(
      StreamEntry{&machine.engine.create_stream(*context.streams, false), handle, 0, 0});
  bool ran = false;
  machine.engine.enqueue(*machine.streams.find(stream)->stream, [&] {
    ran = true;
    return 0;
  });
  machine.empty_context(lock, context, true);
  EXPECT_TRUE(ran);
  EXPECT_EQ(machine.contexts.find(handle), nullptr);
  EXPECT_EQ(machine.streams.find(stream), nullptr);
  EXPECT_EQ(machine.events.find(event), nullptr);
  EXPECT_EQ(machine.pages.find(mine), nullptr);
  EXPECT_NE(machine.pages.find(theirs), nullptr);
}

TEST(Machine, AnEmptiedContextMayGoOn) {
  std::mutex mutex;
  Lock lock(mutex);
  HazardLog log;
  Machine machine(two_devices(Schedule::eager), {0}, log);
  Context& context = machine.contexts.create(0, 0);
  context.streams->fault = 700;
  machine.empty_context(lock, context, false);
  EXPECT_EQ(context.streams->fault, 0);
  EXPECT_TRUE(machine.engine.unfinished(*context.streams).empty());
}

}  // namespace
}  // namespace ferry::sim
