// SPDX-License-Identifier: Apache-2.0
// Modules and the functions in them, which belong to a context and go with it; libraries and the
// kernels in them, which belong to none: in each context where one is used it has a module. Their
// variables: module_variables.hpp. Owned by the machine; requires the lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/machine/streams.hpp"
#include "sim/words/cuda_api.hpp"
#include "sim/words/image_symbols.hpp"
#include "sim/words/jit_options.hpp"
#include "sim/words/kernel_image.hpp"

namespace ferry::sim {

class Machine;

using HandlesByName = std::map<std::string, std::uint64_t, std::less<>>;

// An image and what it declares. All modules of a library share one.
struct LoadedImage {
  explicit LoadedImage(ImageBytes image)
      : bytes(image.begin(), image.end()), symbols(read_symbols(image)) {}

  std::vector<std::byte> bytes;
  std::optional<ImageSymbols> symbols;  // nothing where they cannot be read

  // In an image that cannot be read any word may be a kernel's name.
  [[nodiscard]] bool has_kernel(std::string_view name) const {
    return symbols ? symbols->has_kernel(name) : has_name(bytes, name);
  }
  // What is wrong with its text, where that is seen; empty otherwise.
  [[nodiscard]] std::string_view fault() const {
    return symbols ? std::string_view(symbols->fault) : std::string_view();
  }
  // Null where they cannot be read. Then `without`, which is what becomes of it, is said once.
  [[nodiscard]] const ImageSymbols* symbols_or_say(std::string_view without) const;
};
using ImageRef = std::shared_ptr<const LoadedImage>;

// Null where there is none.
[[nodiscard]] ImageRef keep_image(const std::optional<ImageBytes>& image);
// What the loading of an image, or of none, comes to; the options are answered.
[[nodiscard]] CUresult judge_image(const ImageRef& image, const JitOptions& jit);

// A variable that has its memory.
struct ModuleVariable {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t buffer_id = 0;  // of its mapping; 0: managed memory
};
using ModuleVariables = std::map<std::string, ModuleVariable, std::less<>>;

struct ModuleEntry {
  std::uint64_t context = 0;
  ImageRef image;
  HandlesByName functions;
  std::uint64_t library = 0;  // 0: of none
  ModuleVariables variables;
};

// What a program may set on a function, and is told again.
struct FunctionSettings {
  int most_dynamic_shared = 49152;
  int shared_carveout = -1;
  int cluster[3] = {};  // in blocks; zeros: as the launch says
  int non_portable_cluster = 0;
  int cluster_policy = 0;

  // Null for an attribute that cannot be set.
  [[nodiscard]] int* find(CUfunction_attribute attribute);
  [[nodiscard]] const int* find(CUfunction_attribute attribute) const {
    return const_cast<FunctionSettings*>(this)->find(attribute);
  }
};

struct FunctionEntry {
  std::uint64_t context = 0;
  std::uint64_t module = 0;
  std::string name;
  FunctionSettings settings;
  std::set<CUfunction_attribute> own;  // set on the function itself, and not on its kernel
};

struct LibraryEntry {
  std::uint64_t context = 0;  // of none
  ImageRef image;
  HandlesByName kernels;
  std::map<std::uint64_t, std::uint64_t> modules;  // by context
  ModuleVariables managed;                         // one for all contexts
};

struct KernelEntry {
  std::uint64_t context = 0;  // of none
  std::uint64_t library = 0;
  std::string name;
  std::map<int, FunctionSettings> settings;  // by device
};

using Modules = HandleTable<ModuleEntry, HandleKind::module>;
using Functions = HandleTable<FunctionEntry, HandleKind::function>;
using LoadedLibraries = HandleTable<LibraryEntry, HandleKind::library>;
using LoadedKernels = HandleTable<KernelEntry, HandleKind::kernel>;

// The handle of a new module.
[[nodiscard]] std::uint64_t add_module(Machine& machine, std::uint64_t context, ImageRef image);
void unload_module(Machine& machine, std::uint64_t module);

// The handle of a function of a module, the same each time; nothing where the image does not have
// the name. Requires: there is the module.
[[nodiscard]] std::optional<std::uint64_t> function_of(Machine& machine, std::uint64_t module,
                                                       std::string_view name);

// A library's module in a context, made where there is none yet. Requires: there is the library.
[[nodiscard]] std::uint64_t module_of(Machine& machine, std::uint64_t library,
                                      std::uint64_t context);
[[nodiscard]] std::optional<std::uint64_t> kernel_of(Machine& machine, std::uint64_t library,
                                                     std::string_view name);
void unload_library(Machine& machine, std::uint64_t library);

// An attribute of a kernel on a device was set: so it is for the functions that the kernel is in
// the contexts there, save where it was set on the function itself.
void pass_on_setting(Machine& machine, std::uint64_t kernel, int device,
                     CUfunction_attribute attribute);

// What the handle of a function stands for; that of a kernel, in the given context, too. Null where
// there is none.
[[nodiscard]] FunctionEntry* find_function(Machine& machine, std::uint64_t context,
                                           std::uint64_t handle);

}  // namespace ferry::sim
