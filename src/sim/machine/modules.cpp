// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/modules.hpp"

#include <fmt/format.h>

#include "sim/machine/machine.hpp"
#include "sim/machine/module_variables.hpp"
#include "sim/words/say_once.hpp"

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

// A function that is a kernel of a library is set as the kernel is on the context's device.
FunctionSettings settings_of_kernel(Machine& machine, const ModuleEntry& module,
                                    std::string_view name) {
  const LibraryEntry* const library = machine.libraries.find(module.library);
  if (library == nullptr) return {};
  const auto named = library->kernels.find(name);
  if (named == library->kernels.end()) return {};
  const Context* const context = machine.contexts.find(module.context);
  if (context == nullptr) return {};
  const auto& settings = machine.kernels.find(named->second)->settings;
  const auto found = settings.find(context->device);
  return found == settings.end() ? FunctionSettings{} : found->second;
}

}  // namespace

const ImageSymbols* LoadedImage::symbols_or_say(std::string_view without) const {
  if (symbols) return &*symbols;
  say_once(
      fmt::format("{}, for its image is compressed and cannot be read: build it with nvcc "
                  "--no-compress",
                  without));
  return nullptr;
}

int* FunctionSettings::find(CUfunction_attribute attribute) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return &most_dynamic_shared;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return &shared_carveout;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      return &cluster[0];
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      return &cluster[1];
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return &cluster[2];
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      return &non_portable_cluster;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return &cluster_policy;
    default:
      return nullptr;
  }
}

void pass_on_setting(Machine& machine, std::uint64_t kernel, int device,
                     CUfunction_attribute attribute) {
  KernelEntry& entry = *machine.kernels.find(kernel);
  for (const auto& [context, module] : machine.libraries.find(entry.library)->modules) {
    const ModuleEntry* const loaded = machine.modules.find(module);
    if (loaded == nullptr || machine.contexts.find(context)->device != device) continue;
    const auto known = loaded->functions.find(entry.name);
    if (known == loaded->functions.end()) continue;
    FunctionEntry& function = *machine.functions.find(known->second);
    if (!function.own.contains(attribute))
      *function.settings.find(attribute) = *entry.settings[device].find(attribute);
  }
}

ImageRef keep_image(const std::optional<ImageBytes>& image) {
  return image ? std::make_shared<const LoadedImage>(*image) : nullptr;
}

CUresult judge_image(const ImageRef& image, const JitOptions& jit) {
  const std::string_view fault = image ? image->fault() : std::string_view();
  if (!answer_jit_options(jit, fault)) return CUDA_ERROR_INVALID_VALUE;
  if (image == nullptr) return CUDA_ERROR_INVALID_IMAGE;
  return fault.empty() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX;
}

std::uint64_t add_module(Machine& machine, std::uint64_t context, ImageRef image) {
  return machine.modules.add({context, std::move(image), {}, 0, {}});
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
    return machine.functions.add(
        {entry.context, module, std::string(name), settings_of_kernel(machine, entry, name), {}});
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
    return machine.kernels.add({0, library, std::string(name), {}});
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
