// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/operation_load.hpp"

#include <algorithm>
#include <string_view>

namespace ferry::sim {

namespace {

// What an operation's touches add up to.
struct Traffic {
  std::uint64_t host_read = 0;
  std::uint64_t host_written = 0;
  std::uint64_t far_read = 0;  // of those, in memory of another node than the device's
  std::uint64_t far_written = 0;
  std::uint64_t device_read = 0;
  std::uint64_t device_written = 0;
  std::uint64_t members = 1;
  bool pageable = false;
  bool between_devices = false;
};

int device_of(Machine& machine, std::uint64_t address, int otherwise) {
  const Mapping* const mapping = machine.pages.find(address);
  return mapping == nullptr ? otherwise : mapping->block->device;
}

std::uint64_t far_bytes(Machine& machine, int device, const Touch& touch) {
  if (machine.host_node_count() == 1) return 0;
  return machine.host.nodes().bytes_away(machine.host_node_near(device), touch.address,
                                         touch.bytes);
}

Traffic traffic_of(Machine& machine, int device, std::span<const Touch> touches) {
  Traffic traffic;
  std::uint32_t member = touches.empty() ? 0 : touches.front().member;
  for (const Touch& touch : touches) {
    if (touch.member != member) {
      member = touch.member;
      ++traffic.members;
    }
    const bool reads = touch.kind == AccessKind::read;
    if (machine.addresses.contains(touch.address)) {
      (reads ? traffic.device_read : traffic.device_written) += touch.bytes;
      if (device_of(machine, touch.address, device) != device) traffic.between_devices = true;
    } else {
      (reads ? traffic.host_read : traffic.host_written) += touch.bytes;
      (reads ? traffic.far_read : traffic.far_written) += far_bytes(machine, device, touch);
      if (!machine.host.covers(touch.address, touch.bytes)) traffic.pageable = true;
    }
  }
  return traffic;
}

std::uint64_t rate_of(const Figure& figure) {
  return static_cast<std::uint64_t>(figure.value);
}

void cross(Load& load, Direction direction, std::uint64_t bytes, const Figure& rate) {
  load.link = direction;
  load.bytes = bytes;
  load.rate = rate_of(rate);
}

// Some of the bytes lie on another node, and come no faster than that allows.
void slow_down(Load& load, std::uint64_t far, const Figure& far_rate) {
  const std::uint64_t slow = std::min(load.rate, rate_of(far_rate));
  if (far == 0 || slow == load.rate) return;
  if (far == load.bytes) {
    load.rate = slow;
    return;
  }
  // One part after the other: the rate is that of both together.
  const Work time = work_of(load.bytes - far) / load.rate + work_of(far) / slow;
  if (time > 0) load.rate = static_cast<std::uint64_t>(work_of(load.bytes) / time);
}

// Kernels and fills: the multiprocessors do them, over the link where memory of the host is
// touched.
Load compute_load(const Profile& profile, const Traffic& traffic) {
  Load load;
  load.engine = EngineKind::compute;
  load.latency = profile.launch_latency.value;
  if (traffic.host_read > 0) {
    cross(load, Direction::to_device, traffic.host_read, profile.gather_to_device);
    slow_down(load, traffic.far_read, profile.far_to_device);
  } else if (traffic.host_written > 0) {
    cross(load, Direction::to_host, traffic.host_written, profile.gather_to_host);
    slow_down(load, traffic.far_written, profile.far_to_host);
  } else if (traffic.device_read > 0) {
    load.bytes = std::max(traffic.device_read, traffic.device_written);
    load.rate = rate_of(profile.device_copy);
  } else {
    load.bytes = traffic.device_written;
    load.rate = rate_of(profile.device_fill);
  }
  return load;
}

// A batch that goes both ways is counted as going all the way that most of it goes.
Load link_load(const Profile& profile, const Traffic& traffic) {
  Load load;
  load.latency = profile.copy_latency.value;
  const bool up = traffic.host_read >= traffic.host_written;
  load.engine = up ? EngineKind::to_device : EngineKind::to_host;
  const std::uint64_t bytes = traffic.host_read + traffic.host_written;
  // What is pageable goes through the driver's own buffers, which are near.
  const std::uint64_t far = traffic.pageable ? 0 : traffic.far_read + traffic.far_written;
  if (up) {
    cross(load, Direction::to_device, bytes,
          traffic.pageable ? profile.pageable_to_device : profile.to_device);
    slow_down(load, far, profile.far_to_device);
  } else {
    cross(load, Direction::to_host, bytes,
          traffic.pageable ? profile.pageable_to_host : profile.to_host);
    slow_down(load, far, profile.far_to_host);
  }
  return load;
}

Load copy_load(const Profile& profile, const Traffic& traffic) {
  Load load;
  load.bytes = std::max(traffic.host_read, traffic.device_read);
  if (traffic.host_read > 0 || traffic.host_written > 0) {
    if (traffic.device_read > 0 || traffic.device_written > 0) return link_load(profile, traffic);
    load.rate = rate_of(profile.host_memcpy);  // from host to host: by the host
    return load;
  }
  load.latency = profile.copy_latency.value;
  load.engine = traffic.between_devices ? EngineKind::peer : EngineKind::compute;
  load.rate = rate_of(traffic.between_devices ? profile.peer : profile.device_copy);
  return load;
}

}  // namespace

OperationLoad load_of(Machine& machine, Symbol symbol, int device, std::span<const Touch> touches) {
  OperationLoad result;
  const Profile* const profile = machine.engine.timeline().profile();
  if (profile == nullptr) return result;
  const Traffic traffic = traffic_of(machine, device, touches);
  const bool is_kernel = row_of(symbol).name.starts_with("cuLaunch");
  const bool is_fill = traffic.host_read == 0 && traffic.device_read == 0;
  const bool computes = is_kernel || is_fill;
  result.load = computes ? compute_load(*profile, traffic) : copy_load(*profile, traffic);
  result.load.device = device;
  result.members = traffic.members;
  result.holds_caller = !computes && traffic.pageable;
  return result;
}

}  // namespace ferry::sim
