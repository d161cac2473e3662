// SPDX-License-Identifier: Apache-2.0
#include "sim/words/visible_devices.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ferry::sim {
namespace {

using Indices = std::vector<int>;

TEST(VisibleDevices, UnsetShowsAll) {
  EXPECT_EQ(visible_devices(nullptr, 3), (Indices{0, 1, 2}));
}

TEST(VisibleDevices, AListChoosesAndOrders) {
  EXPECT_EQ(visible_devices("2,0", 3), (Indices{2, 0}));
  EXPECT_EQ(visible_devices(" 1 , 2 ", 3), (Indices{1, 2}));
}

TEST(VisibleDevices, NothingIsVisible) {
  EXPECT_EQ(visible_devices("", 3), Indices{});
  EXPECT_EQ(visible_devices("-1", 3), Indices{});
  EXPECT_EQ(visible_devices("none", 3), Indices{});
}

TEST(VisibleDevices, TheListEndsAtTheFirstBadEntry) {
  EXPECT_EQ(visible_devices("1,9,0", 3), (Indices{1}));
  EXPECT_EQ(visible_devices("1,-1,0", 3), (Indices{1}));
  EXPECT_EQ(visible_devices("0,1,0,2", 3), (Indices{0, 1})) << "a device named twice ends it too";
  EXPECT_EQ(visible_devices("1x,0", 3), Indices{});
}

TEST(VisibleDevices, UuidsAndTheirPrefixes) {
  const std::string first = uuid_text(device_uuid(0));
  const std::string second = uuid_text(device_uuid(1));
  EXPECT_EQ(first.size(), 40U);
  EXPECT_EQ(visible_devices(second.c_str(), 2), (Indices{1}));
  EXPECT_EQ(visible_devices((second.substr(0, 12) + ",0").c_str(), 2), (Indices{1, 0}));
  EXPECT_EQ(visible_devices("GPU-", 2), Indices{}) << "fits both";
  EXPECT_EQ(visible_devices("GPU-zz", 2), Indices{});
}

TEST(VisibleDevices, DevicesDiffer) {
  std::set<std::string> uuids;
  std::set<std::string> buses;
  for (int index = 0; index < 16; ++index) {
    uuids.insert(uuid_text(device_uuid(index)));
    buses.insert(pci_bus_id(index));
  }
  EXPECT_EQ(uuids.size(), 16U);
  EXPECT_EQ(buses.size(), 16U);
  EXPECT_EQ(pci_bus_id(0), "0000:01:00.0");
}

}  // namespace
}  // namespace ferry::sim
