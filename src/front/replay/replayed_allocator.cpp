// SPDX-License-Identifier: Apache-2.0
#include "front/replay/replayed_allocator.hpp"

namespace ferry::replay {

Result<DeviceAddress> ReplayedPool::allocate(Bytes bytes, StreamRef stream) {
  return pool_.allocate(bytes, stream);
}
Status ReplayedPool::free(DeviceAddress address, StreamRef stream) {
  return pool_.free(address, stream);
}
Status ReplayedPool::audit() {
  return pool_.audit();
}
Bytes ReplayedPool::reserved() const {
  return pool_.stats().reserved_bytes;
}
Bytes ReplayedPool::reserved_peak() const {
  return pool_.stats().reserved_bytes_peak;
}
CallTallies ReplayedPool::tallies() const {
  return device_.tallies();
}
std::string ReplayedPool::out_of_memory_report() const {
  return pool_.out_of_memory_report();
}

}  // namespace ferry::replay
