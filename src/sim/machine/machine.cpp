// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/machine.hpp"

#include "sim/machine/device_attributes.hpp"
#include "sim/machine/peer_access.hpp"

namespace ferry::sim {

namespace {

Bytes capacity_of(const Settings& settings, const Profile* profile) {
  if (profile == nullptr || settings.capacity_given) return settings.capacity;
  return Bytes{static_cast<std::uint64_t>(profile->device_memory.value)};
}

}  // namespace

Machine::Machine(const Settings& settings, std::vector<int> visible_devices, HazardLog& log,
                 std::shared_ptr<const Profile> profile)
    : visible(std::move(visible_devices)),
      physical(devices(), capacity_of(settings, profile.get()), settings.with_data),
      virtual_memory(addresses, physical, pages, devices()),
      allocations(addresses, physical, pages),
      operations(addresses, physical, pages),
      host_views(addresses, pages, physical),
      hazards(addresses, pages, log),
      engine(settings.schedule, settings.seed, std::move(profile)),
      contexts(engine, devices()),
      pools({addresses, physical, pages, hazards, engine}, devices()) {
  set_limits(settings.limits);
  if (settings.skips_unknown_kernels) physical.begin_all_as_zeros();
  engine.set_on_seen([this] { foreign_records.tell(engine.seen()); });
  engine.turns().set_on(settings.threads == Threads::turns);
  engine.timeline().set_engine_windows(settings.engine_windows);
}

std::optional<int> Machine::attribute(CUdevice_attribute attribute, int ordinal) {
  return device_attribute(attribute, physical_index(ordinal), profile(), limits_);
}

void Machine::set_limits(const MachineLimits& limits) {
  limits_ = limits;
  addresses.set_reuse_at_once(limits.reuse_at_once);
  allocations.set_reuse_at_once(limits.reuse_at_once);
  streams.set_reuse_at_once(limits.reuse_at_once);
  events.set_reuse_at_once(limits.reuse_at_once);
  physical.set_limits(limits);
  virtual_memory.set_limits(limits);
  host.set_limits(limits);
}

void Machine::empty_context(Lock& lock, Context& context, bool ends) {
  StreamGroup& group = *context.streams;
  const int device = context.device;
  const std::uint64_t handle = context.handle;
  const Clock waited_for = StreamEngine::clock_of(group);
  engine.finish(lock, group);
  engine.observe(waited_for);
  captures.forget_all_of(group);
  streams.erase_all_of(context.handle);
  events.erase_all_of(context.handle);
  modules.erase_all_of(context.handle);
  functions.erase_all_of(context.handle);
  allocations.free_all_of(context.handle);
  close_all_of(*this, context.handle);
  foreign_waits.forget_reached();
  forget_peers(*this, context);
  host.forget_all_of(context.handle);
  if (ends) {
    contexts.erase(context);
  } else {
    contexts.renew_streams(context);
  }
  engine.destroy_group(lock, group);
  bool is_last = true;
  contexts.for_each([&](const Context& other) {
    if (other.device == device && other.handle != handle) is_last = false;
  });
  if (is_last) {
    pools.forget_memory_of(device);
  } else {
    pools.release_unused();
  }
}

}  // namespace ferry::sim
