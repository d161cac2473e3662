// SPDX-License-Identifier: Apache-2.0
// Exported: modules and the functions in them. An image is kept, and a function is found where its
// name stands in the image; the code itself is a host function registered by that name
// (kernels.hpp).
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>

#include "sim/machine/library.hpp"
#include "sim/words/kernel_image.hpp"

namespace ferry::sim {

namespace {

CUresult add_module(Call& call, ImageBytes image, CUmodule* out) {
  ModuleEntry entry;
  entry.context = call.context->handle;
  entry.image.assign(image.begin(), image.end());
  *out = to_handle<CUmodule>(call.machine.modules.add(std::move(entry)));
  return CUDA_SUCCESS;
}

CUresult load_data(Symbol symbol, const void* start, CUmodule* out) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    if (out == nullptr || start == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::optional<ImageBytes> image = find_image(start);
    return image ? add_module(call, *image, out) : CUDA_ERROR_INVALID_IMAGE;
  });
}

// Nothing where there is no such file.
std::optional<std::string> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

CUresult load_file(Symbol symbol, const char* path, CUmodule* out) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    if (out == nullptr || path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::optional<std::string> content = read_file(path);
    if (!content) return CUDA_ERROR_FILE_NOT_FOUND;
    const std::optional<ImageBytes> image = find_image_in(std::as_bytes(std::span(*content)));
    return image ? add_module(call, *image, out) : CUDA_ERROR_INVALID_IMAGE;
  });
}

CUresult get_function(Call& call, CUmodule module, const char* name, CUfunction* out) {
  ModuleEntry* const entry = call.machine.modules.find(value_of(module));
  if (entry == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (out == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const auto known = entry->functions.find(name); known != entry->functions.end()) {
    *out = to_handle<CUfunction>(known->second);
    return CUDA_SUCCESS;
  }
  if (!has_name(entry->image, name)) return CUDA_ERROR_NOT_FOUND;
  const std::uint64_t function =
      call.machine.functions.add({entry->context, value_of(module), name, {}});
  entry->functions.emplace(name, function);
  *out = to_handle<CUfunction>(function);
  return CUDA_SUCCESS;
}

}  // namespace

}  // namespace ferry::sim

using ferry::sim::Call;
using ferry::sim::FunctionEntry;
using ferry::sim::Library;
using ferry::sim::ModuleEntry;
using ferry::sim::Need;
using ferry::sim::Symbol;
using ferry::sim::to_handle;
using ferry::sim::value_of;

CUresult cuModuleLoad(CUmodule* module, const char* fname) {
  return ferry::sim::load_file(Symbol::cuModuleLoad, fname, module);
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return ferry::sim::load_data(Symbol::cuModuleLoadData, image, module);
}

// Nothing is compiled here: the options, which are for the compiler, have no effect.
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int /*numOptions*/,
                            CUjit_option* /*options*/, void** /*optionValues*/) {
  return ferry::sim::load_data(Symbol::cuModuleLoadDataEx, image, module);
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* fatCubin) {
  return ferry::sim::load_data(Symbol::cuModuleLoadFatBinary, fatCubin, module);
}

CUresult cuModuleUnload(CUmodule hmod) {
  return Library::get().call(Symbol::cuModuleUnload, Need::context, [&](Call& call) {
    ModuleEntry* const entry = call.machine.modules.find(value_of(hmod));
    if (entry == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    for (const auto& [name, function] : entry->functions) call.machine.functions.erase(function);
    call.machine.modules.erase(value_of(hmod));
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return Library::get().call(Symbol::cuModuleGetLoadingMode, Need::initialised, [&](Call&) {
    if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;  // the default since CUDA 12.2
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunction(CUfunction* hfunc, CUmodule hmod, const char* name) {
  return Library::get().call(Symbol::cuModuleGetFunction, Need::context, [&](Call& call) {
    return ferry::sim::get_function(call, hmod, name, hfunc);
  });
}

CUresult cuFuncGetModule(CUmodule* hmod, CUfunction hfunc) {
  return Library::get().call(Symbol::cuFuncGetModule, Need::context, [&](Call& call) {
    const FunctionEntry* const function = call.machine.functions.find(value_of(hfunc));
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (hmod == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *hmod = to_handle<CUmodule>(function->module);
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetName(const char** name, CUfunction hfunc) {
  return Library::get().call(Symbol::cuFuncGetName, Need::context, [&](Call& call) {
    const FunctionEntry* const function = call.machine.functions.find(value_of(hfunc));
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *name = function->name.c_str();  // lives until the module is unloaded
    return CUDA_SUCCESS;
  });
}
