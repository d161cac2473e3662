// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/kernels.hpp"

#include <algorithm>
#include <bit>

#include "base/bytes.hpp"

namespace ferry::sim {

std::vector<std::size_t> Kernel::argument_offsets() const {
  constexpr std::size_t kMost = 16;
  std::vector<std::size_t> offsets;
  std::size_t end = 0;
  for (const std::size_t bytes : argument_bytes) {
    const std::size_t divisor = std::size_t{1} << std::countr_zero(bytes | kMost);
    offsets.push_back(align_up(end, divisor));
    end = offsets.back() + bytes;
  }
  return offsets;
}

namespace {

std::shared_ptr<const Kernel> kernel_that_does_nothing() {
  static const auto kernel = [] {
    auto made = std::make_shared<Kernel>();
    made->functions.ranges = [](const ferry_sim_launch*, const void* const*, ferry_sim_range*,
                                size_t) -> size_t { return 0; };
    made->functions.run = [](const ferry_sim_launch*, const void* const*, void* const*) {};
    return made;
  }();
  return kernel;
}

}  // namespace

bool Kernels::add(const ferry_sim_kernel& kernel) {
  const bool sizes_given = kernel.argument_count == 0 || kernel.argument_bytes != nullptr;
  if (kernel.name == nullptr || *kernel.name == '\0' || kernel.run == nullptr ||
      kernel.ranges == nullptr || !sizes_given) {
    return false;
  }
  const auto known = std::make_shared<Kernel>();
  known->argument_bytes.assign(kernel.argument_bytes,
                               kernel.argument_bytes + kernel.argument_count);
  known->functions = kernel;
  kernels_[kernel.name] = known;
  return true;
}

std::shared_ptr<const Kernel> Kernels::find(std::string_view name) const {
  const auto found = kernels_.find(name);
  if (found != kernels_.end()) return found->second;
  return skips_unknown_ ? kernel_that_does_nothing() : nullptr;
}

void KernelArguments::set(std::size_t index, const void* value, std::size_t bytes) {
  const auto* const first = static_cast<const std::byte*>(value);
  values_[index].assign(first, first + bytes);
}

std::vector<const void*> KernelArguments::pointers() const {
  std::vector<const void*> all;
  for (const auto& value : values_) all.push_back(value.data());
  return all;
}

std::vector<ferry_sim_range> ranges_of(const Kernel& kernel, const ferry_sim_launch& launch,
                                       const KernelArguments& arguments) {
  const std::vector<const void*> pointers = arguments.pointers();
  std::vector<ferry_sim_range> ranges(8);
  const std::size_t count =
      kernel.functions.ranges(&launch, pointers.data(), ranges.data(), ranges.size());
  const bool had_room = count <= ranges.size();
  ranges.resize(count);
  if (!had_room) {
    const std::size_t again =
        kernel.functions.ranges(&launch, pointers.data(), ranges.data(), ranges.size());
    ranges.resize(std::min(again, ranges.size()));
  }
  return ranges;
}

}  // namespace ferry::sim
