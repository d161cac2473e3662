// SPDX-License-Identifier: Apache-2.0
// Exported: modules, the functions and the variables in them. An image is kept, and what it
// declares is found by its name; the code itself is a host function registered by that name
// (kernels.hpp). In an image that cannot be read (image_symbols.hpp) every word passes for a
// function.
#include <algorithm>
#include <optional>

#include "sim/machine/module_variables.hpp"
#include "sim/words/jit_options.hpp"
#include "sim/words/kernel_image.hpp"

namespace ferry::sim {

namespace {

CUresult add_judged(Call& call, const ImageRef& image, const JitOptions& jit, CUmodule& out) {
  const CUresult result = judge_image(image, jit);
  if (result == CUDA_SUCCESS)
    out = to_handle<CUmodule>(add_module(call.machine, call.context->handle, image));
  return result;
}

CUresult load_data(Symbol symbol, const void* start, CUmodule* out, const JitOptions& jit = {}) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    if (out == nullptr || start == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return add_judged(call, keep_image(find_image(start)), jit, *out);
  });
}

CUresult load_file(Symbol symbol, const char* path, CUmodule* out) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    if (out == nullptr || path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const ImageFile file(path);
    if (!file.exists()) return CUDA_ERROR_FILE_NOT_FOUND;
    return add_judged(call, keep_image(file.image()), {}, *out);
  });
}

// Runs body(Call&, ModuleEntry&) where the module is there.
template <typename Body>
CUresult with_module(Symbol symbol, CUmodule module, Body&& body) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    ModuleEntry* const entry = call.machine.modules.find(value_of(module));
    return entry == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(call, *entry);
  });
}

// Null where the image cannot be read.
const std::vector<std::string>* kernels_of(const ModuleEntry& module) {
  const auto* const symbols =
      module.image->symbols_or_say("the functions of a module are not counted");
  return symbols == nullptr ? nullptr : &symbols->kernels;
}

}  // namespace

}  // namespace ferry::sim

using ferry::sim::Call;
using ferry::sim::FunctionEntry;
using ferry::sim::Library;
using ferry::sim::ModuleEntry;
using ferry::sim::ModuleVariable;
using ferry::sim::Need;
using ferry::sim::Symbol;
using ferry::sim::to_handle;
using ferry::sim::value_of;
using ferry::sim::with_module;

CUresult cuModuleLoad(CUmodule* module, const char* fname) {
  return ferry::sim::load_file(Symbol::cuModuleLoad, fname, module);
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return ferry::sim::load_data(Symbol::cuModuleLoadData, image, module);
}

// Nothing is compiled here: of the options, which are for the compiler, some are answered.
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int numOptions,
                            CUjit_option* options, void** optionValues) {
  return ferry::sim::load_data(Symbol::cuModuleLoadDataEx, image, module,
                               {numOptions, options, optionValues});
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* fatCubin) {
  return ferry::sim::load_data(Symbol::cuModuleLoadFatBinary, fatCubin, module);
}

CUresult cuModuleUnload(CUmodule hmod) {
  return with_module(Symbol::cuModuleUnload, hmod, [&](Call& call, const ModuleEntry& module) {
    if (module.library != 0) return CUDA_ERROR_NOT_PERMITTED;  // it goes with its library
    ferry::sim::end_variables(call, Symbol::cuModuleUnload, {value_of(hmod)});
    ferry::sim::unload_module(call.machine, value_of(hmod));
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
  return with_module(Symbol::cuModuleGetFunction, hmod, [&](Call& call, const ModuleEntry&) {
    if (hfunc == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto function = ferry::sim::function_of(call.machine, value_of(hmod), name);
    if (!function) return CUDA_ERROR_NOT_FOUND;
    *hfunc = to_handle<CUfunction>(*function);
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunctionCount(unsigned int* count, CUmodule mod) {
  return with_module(Symbol::cuModuleGetFunctionCount, mod, [&](Call&, const ModuleEntry& module) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto* const names = ferry::sim::kernels_of(module);
    if (names == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
    *count = static_cast<unsigned>(names->size());
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned int numFunctions,
                                    CUmodule mod) {
  return with_module(Symbol::cuModuleEnumerateFunctions, mod,
                     [&](Call& call, const ModuleEntry& module) {
                       if (functions == nullptr) return CUDA_ERROR_INVALID_VALUE;
                       const auto* const names = ferry::sim::kernels_of(module);
                       if (names == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
                       const std::size_t count = std::min<std::size_t>(numFunctions, names->size());
                       for (std::size_t i = 0; i < count; ++i) {
                         functions[i] = to_handle<CUfunction>(
                             *ferry::sim::function_of(call.machine, value_of(mod), (*names)[i]));
                       }
                       return CUDA_SUCCESS;
                     });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* dptr, size_t* bytes, CUmodule hmod, const char* name) {
  return with_module(Symbol::cuModuleGetGlobal_v2, hmod, [&](Call& call, const ModuleEntry&) {
    if ((dptr == nullptr && bytes == nullptr) || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    ModuleVariable variable;
    const CUresult result = ferry::sim::variable_of(call.machine, value_of(hmod), name, variable);
    return ferry::sim::give_variable(result, variable, dptr, bytes);
  });
}

CUresult cuFuncGetModule(CUmodule* hmod, CUfunction hfunc) {
  return Library::get().call(Symbol::cuFuncGetModule, Need::context, [&](Call& call) {
    const FunctionEntry* const function =
        ferry::sim::find_function(call.machine, call.context->handle, value_of(hfunc));
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (hmod == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *hmod = to_handle<CUmodule>(function->module);
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetName(const char** name, CUfunction hfunc) {
  return Library::get().call(Symbol::cuFuncGetName, Need::context, [&](Call& call) {
    const FunctionEntry* const function =
        ferry::sim::find_function(call.machine, call.context->handle, value_of(hfunc));
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *name = function->name.c_str();  // lives until the module is unloaded
    return CUDA_SUCCESS;
  });
}
