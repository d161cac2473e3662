// SPDX-License-Identifier: Apache-2.0
// The code of kernels: functions of the host, known by the kernels' names, since the code in an
// image cannot run here (ferry_sim_register_kernel in include/ferry/sim.h). Owned by the library,
// so that they outlive a reset; requires its lock.
#pragma once

#include <ferry/sim.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ferry::sim {

struct Kernel {
  std::vector<std::size_t> argument_bytes;
  ferry_sim_kernel functions{};  // its other pointers may have gone

  // Where each argument lies in one buffer that holds them all: aligned as the plain types and
  // vectors of CUDA C++ are, to the largest power of two, up to 16, that divides its size.
  [[nodiscard]] std::vector<std::size_t> argument_offsets() const;
};

class Kernels {
 public:
  // A name again takes the place of the first. False where something is missing.
  [[nodiscard]] bool add(const ferry_sim_kernel& kernel);
  // From now on a name that is not known stands for a kernel that does nothing.
  void skip_unknown(bool skips) { skips_unknown_ = skips; }
  [[nodiscard]] bool skips_unknown() const { return skips_unknown_; }
  // Null where there is none.
  [[nodiscard]] std::shared_ptr<const Kernel> find(std::string_view name) const;

 private:
  std::map<std::string, std::shared_ptr<const Kernel>, std::less<>> kernels_;
  bool skips_unknown_ = false;
};

// The arguments of a launch, copied when it is queued.
class KernelArguments {
 public:
  explicit KernelArguments(const Kernel& kernel) : values_(kernel.argument_bytes.size()) {}
  void set(std::size_t index, const void* value, std::size_t bytes);
  // One pointer for each argument, valid for as long as this lives.
  [[nodiscard]] std::vector<const void*> pointers() const;

 private:
  std::vector<std::vector<std::byte>> values_;
};

// What a launch touches, as its kernel says.
[[nodiscard]] std::vector<ferry_sim_range> ranges_of(const Kernel& kernel,
                                                     const ferry_sim_launch& launch,
                                                     const KernelArguments& arguments);

}  // namespace ferry::sim
