// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/own_kernels.hpp"

#include <concepts>
#include <cstring>

#include "cuda/kernels/kernels.hpp"

namespace ferry::sim {

namespace {

using kernels::Access;

// A kernel has one argument, its body.
template <typename Body>
Body body_of(const void* const* arguments) {
  Body body;
  std::memcpy(&body, arguments[0], sizeof body);
  return body;
}

template <typename Body>
std::size_t ranges(const ferry_sim_launch* /*launch*/, const void* const* arguments,
                   ferry_sim_range* out, std::size_t room) {
  auto body = body_of<Body>(arguments);
  std::size_t count = 0;
  body.visit([&](auto* pointer, std::uint64_t bytes, Access access) {
    if (count < room)
      out[count] = {reinterpret_cast<std::uintptr_t>(pointer), bytes, access == Access::write};
    ++count;
  });
  return count;
}

// The pointers of the device give way to the copies that the launch works on.
template <typename Body>
void run(const ferry_sim_launch* /*launch*/, const void* const* arguments, void* const* memory) {
  auto body = body_of<Body>(arguments);
  body.visit([&]<typename Word>(Word*& pointer, std::uint64_t, Access) {
    pointer = static_cast<Word*>(*memory++);
  });
  for (std::uint64_t i = 0; i < body.size(); ++i) body(i);
}

template <typename Body>
std::uint64_t nanoseconds(const ferry_sim_launch* /*launch*/, const void* const* arguments) {
  if constexpr (std::same_as<Body, kernels::Spin>) return body_of<Body>(arguments).nanoseconds;
  return 0;
}

template <typename Body>
constexpr std::size_t kBodyBytes[] = {sizeof(Body)};

#define FERRY_KERNEL(name, Body) \
  {#name,                        \
   1,                            \
   kBodyBytes<kernels::Body>,    \
   ranges<kernels::Body>,        \
   run<kernels::Body>,           \
   nanoseconds<kernels::Body>},
constexpr ferry_sim_kernel kOwnKernels[] = {
#include "cuda/kernels/kernels.inc"
};

}  // namespace

std::span<const ferry_sim_kernel> own_kernels() {
  return kOwnKernels;
}

}  // namespace ferry::sim
