// SPDX-License-Identifier: Apache-2.0
// What a simulated machine costs and says about itself: one figure for each rate, latency, call and
// property, each with its source. Plain data, read from JSON by profile_reader.hpp; never a
// statement about how fast a real GPU is.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace ferry::sim {

// How far a figure can be trusted.
enum class Certainty : std::uint8_t {
  seen,      // measured by this project
  read,      // from the named source
  inferred,  // worked out or assumed; the source says from what
};

struct Figure {
  std::int64_t value = 0;  // in the unit of its quantity: bytes per second, picoseconds, bytes
  std::string source;
  Certainty sure = Certainty::inferred;
};

struct Profile {
  std::string name;
  std::string description;
  std::string device_name;
  std::string device_name_source;

  Figure compute_major, compute_minor, multiprocessors, device_memory, copy_engines;
  // Pinned memory over the link, one direction alone and both at once.
  Figure to_device, to_host, duplex_to_device, duplex_to_host;
  Figure copy_latency;                          // of each copy or batch, on its engine
  Figure pageable_to_device, pageable_to_host;  // through the driver's own staging
  Figure gather_to_device, gather_to_host;      // kernels that reach over the link
  Figure peer;                                  // from one device to another
  Figure host_memory, host_memcpy;              // of the whole host; of one thread
  Figure host_nodes;                            // of the host's memory: sockets, mostly
  Figure far_to_device, far_to_host;            // pinned memory of another node than the device's
  Figure device_copy, device_fill;              // within device memory, also for kernels
  Figure launch_latency, host_function;         // before a kernel begins; a callback's dispatch
  // What the host pays for a call, by kind; `_mib` for each MiB, `_each` for each mapping or copy.
  Figure call, synchronize, query, event_record, stream_wait;
  Figure copy, batch, batch_each, fill, launch;
  Figure alloc, alloc_mib, free, pool_alloc, pool_free, memory_info;
  Figure reserve, unreserve, create, create_mib, release, map;
  Figure set_access, set_access_each, unmap, unmap_each;
  Figure host_alloc, host_alloc_mib, host_free, host_free_mib;
  Figure host_register, host_register_mib, host_unregister, host_unregister_mib;
};

// The node of the host that a device is near to, by the device's physical index. Neighbouring
// devices have different ones: real machines number them in many ways, and a program that guesses
// instead of asking shall be found out.
[[nodiscard]] inline int host_node_of(const Profile& profile, int physical_index) {
  return physical_index % static_cast<int>(profile.host_nodes.value);
}

enum class Quantity : std::uint8_t { rate, time, size, count };

// Where each figure stands in the JSON: SECTION.KEY.
struct FigureRow {
  std::string_view section;
  std::string_view key;
  Quantity quantity;
  Figure Profile::*member;
};

inline constexpr std::array kFigures{
    FigureRow{"device", "compute_capability_major", Quantity::count, &Profile::compute_major},
    FigureRow{"device", "compute_capability_minor", Quantity::count, &Profile::compute_minor},
    FigureRow{"device", "multiprocessors", Quantity::count, &Profile::multiprocessors},
    FigureRow{"device", "memory", Quantity::size, &Profile::device_memory},
    FigureRow{"device", "copy_engines", Quantity::count, &Profile::copy_engines},
    FigureRow{"device", "copy", Quantity::rate, &Profile::device_copy},
    FigureRow{"device", "fill", Quantity::rate, &Profile::device_fill},
    FigureRow{"device", "launch_latency", Quantity::time, &Profile::launch_latency},
    FigureRow{"device", "host_function", Quantity::time, &Profile::host_function},
    FigureRow{"link", "to_device", Quantity::rate, &Profile::to_device},
    FigureRow{"link", "to_host", Quantity::rate, &Profile::to_host},
    FigureRow{"link", "duplex_to_device", Quantity::rate, &Profile::duplex_to_device},
    FigureRow{"link", "duplex_to_host", Quantity::rate, &Profile::duplex_to_host},
    FigureRow{"link", "copy_latency", Quantity::time, &Profile::copy_latency},
    FigureRow{"link", "pageable_to_device", Quantity::rate, &Profile::pageable_to_device},
    FigureRow{"link", "pageable_to_host", Quantity::rate, &Profile::pageable_to_host},
    FigureRow{"link", "gather_to_device", Quantity::rate, &Profile::gather_to_device},
    FigureRow{"link", "gather_to_host", Quantity::rate, &Profile::gather_to_host},
    FigureRow{"link", "peer", Quantity::rate, &Profile::peer},
    FigureRow{"host", "memory", Quantity::rate, &Profile::host_memory},
    FigureRow{"host", "memcpy", Quantity::rate, &Profile::host_memcpy},
    FigureRow{"host", "nodes", Quantity::count, &Profile::host_nodes},
    FigureRow{"host", "far_to_device", Quantity::rate, &Profile::far_to_device},
    FigureRow{"host", "far_to_host", Quantity::rate, &Profile::far_to_host},
    FigureRow{"calls", "other", Quantity::time, &Profile::call},
    FigureRow{"calls", "synchronize", Quantity::time, &Profile::synchronize},
    FigureRow{"calls", "query", Quantity::time, &Profile::query},
    FigureRow{"calls", "event_record", Quantity::time, &Profile::event_record},
    FigureRow{"calls", "stream_wait", Quantity::time, &Profile::stream_wait},
    FigureRow{"calls", "copy", Quantity::time, &Profile::copy},
    FigureRow{"calls", "batch", Quantity::time, &Profile::batch},
    FigureRow{"calls", "batch_each", Quantity::time, &Profile::batch_each},
    FigureRow{"calls", "fill", Quantity::time, &Profile::fill},
    FigureRow{"calls", "launch", Quantity::time, &Profile::launch},
    FigureRow{"calls", "alloc", Quantity::time, &Profile::alloc},
    FigureRow{"calls", "alloc_mib", Quantity::time, &Profile::alloc_mib},
    FigureRow{"calls", "free", Quantity::time, &Profile::free},
    FigureRow{"calls", "pool_alloc", Quantity::time, &Profile::pool_alloc},
    FigureRow{"calls", "pool_free", Quantity::time, &Profile::pool_free},
    FigureRow{"calls", "memory_info", Quantity::time, &Profile::memory_info},
    FigureRow{"calls", "reserve", Quantity::time, &Profile::reserve},
    FigureRow{"calls", "unreserve", Quantity::time, &Profile::unreserve},
    FigureRow{"calls", "create", Quantity::time, &Profile::create},
    FigureRow{"calls", "create_mib", Quantity::time, &Profile::create_mib},
    FigureRow{"calls", "release", Quantity::time, &Profile::release},
    FigureRow{"calls", "map", Quantity::time, &Profile::map},
    FigureRow{"calls", "set_access", Quantity::time, &Profile::set_access},
    FigureRow{"calls", "set_access_each", Quantity::time, &Profile::set_access_each},
    FigureRow{"calls", "unmap", Quantity::time, &Profile::unmap},
    FigureRow{"calls", "unmap_each", Quantity::time, &Profile::unmap_each},
    FigureRow{"calls", "host_alloc", Quantity::time, &Profile::host_alloc},
    FigureRow{"calls", "host_alloc_mib", Quantity::time, &Profile::host_alloc_mib},
    FigureRow{"calls", "host_free", Quantity::time, &Profile::host_free},
    FigureRow{"calls", "host_free_mib", Quantity::time, &Profile::host_free_mib},
    FigureRow{"calls", "host_register", Quantity::time, &Profile::host_register},
    FigureRow{"calls", "host_register_mib", Quantity::time, &Profile::host_register_mib},
    FigureRow{"calls", "host_unregister", Quantity::time, &Profile::host_unregister},
    FigureRow{"calls", "host_unregister_mib", Quantity::time, &Profile::host_unregister_mib},
};

}  // namespace ferry::sim
