// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/modules.hpp"

#include "sim/machine/machine.hpp"
#include "sim/machine/module_variables.hpp"

namespace ferry::sim {

namespace {

// The handle under a name in an image; `add` makes it the first time.
template <typename Add>
std::optional<std::uint64_t> handle_of(HandlesByName& known, const LoadedImage& image,
                                       std::string_view name, Add&& add) {
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  if (!image.has_kernel(name)) return std::nullopt;
  return known.emplace(name, add()).first->second;
}

}  // namespace

std::uint64_t add_module(Machine& machine, std::uint64_t context, ImageBytes image) {
  return machine.modules.add({context, std::make_shared<const LoadedImage>(image), {}, 0, {}});
}

void unload_module(Machine& machine, std::uint64_t module) {
  ModuleEntry* const entry = machine.modules.find(module);
  if (entry == nullptr) return;  // it went with its context
  free_variables(machine, entry->variables);
  for (const auto& [name, function] : entry->functions) machine.functions.erase(function);
  machine.modules.erase(module);
}

std::optional<std::uint64_t> function_of(Machine& machine, std::uint64_t module,
                                         std::string_view name) {
  ModuleEntry& entry = *machine.modules.find(module);
  return handle_of(entry.functions, *entry.image, name, [&] {
    return machine.functions.add({entry.context, module, std::string(name), {}});
  });
}

std::uint64_t module_of(Machine& machine, std::uint64_t library, std::uint64_t context) {
  LibraryEntry& entry = *machine.libraries.find(library);
  std::uint64_t& module = entry.modules[context];
  if (machine.modules.find(module) == nullptr)
    module = machine.modules.add({context, entry.image, {}, library, {}});
  return module;
}

std::optional<std::uint64_t> kernel_of(Machine& machine, std::uint64_t library,
                                       std::string_view name) {
  LibraryEntry& entry = *machine.libraries.find(library);
  return handle_of(entry.kernels, *entry.image, name, [&] {
    return machine.kernels.add({0, library, std::string(name)});
  });
}

void unload_library(Machine& machine, std::uint64_t library) {
  LibraryEntry& entry = *machine.libraries.find(library);
  free_variables(machine, entry.managed);
  for (const auto& [name, kernel] : entry.kernels) machine.kernels.erase(kernel);
  for (const auto& [context, module] : entry.modules) unload_module(machine, module);
  machine.libraries.erase(library);
}

FunctionEntry* find_function(Machine& machine, std::uint64_t context, std::uint64_t handle) {
  if (FunctionEntry* const function = machine.functions.find(handle)) return function;
  const KernelEntry* const kernel = machine.kernels.find(handle);
  if (kernel == nullptr) return nullptr;
  const std::uint64_t module = module_of(machine, kernel->library, context);
  return machine.functions.find(*function_of(machine, module, kernel->name));
}

}  // namespace ferry::sim
