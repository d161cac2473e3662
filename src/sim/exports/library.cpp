// SPDX-License-Identifier: Apache-2.0
// Exported: libraries, which belong to no context, the kernels and the variables in them.
#include <algorithm>
#include <optional>

#include "sim/exports/functions.hpp"
#include "sim/machine/module_variables.hpp"
#include "sim/words/jit_options.hpp"
#include "sim/words/kernel_image.hpp"

namespace ferry::sim {

namespace {

// What a program asks of the loading; nothing is compiled here.
bool are_options(unsigned count, const CUlibraryOption* options, void* const* values) {
  if (count > 0 && (options == nullptr || values == nullptr)) return false;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] > CU_LIBRARY_BINARY_IS_PRESERVED) return false;
  }
  return true;
}

CUresult add_library(Call& call, const ImageRef& image, const JitOptions& jit, CUlibrary* out) {
  if (const CUresult result = judge_image(image, jit); result != CUDA_SUCCESS) return result;
  LibraryEntry entry;
  entry.image = image;
  *out = to_handle<CUlibrary>(call.machine.libraries.add(std::move(entry)));
  return CUDA_SUCCESS;
}

template <typename Body>
CUresult with_library(Symbol symbol, Need need, CUlibrary library, Body&& body) {
  return Library::get().call(symbol, need, [&](Call& call) {
    const bool is_there = call.machine.libraries.find(value_of(library)) != nullptr;
    return is_there ? body(call) : CUDA_ERROR_INVALID_HANDLE;
  });
}

// Null where the image cannot be read.
const std::vector<std::string>* kernels_of(Call& call, CUlibrary library) {
  const LoadedImage& image = *call.machine.libraries.find(value_of(library))->image;
  const auto* const symbols = image.symbols_or_say("the kernels of a library are not counted");
  return symbols == nullptr ? nullptr : &symbols->kernels;
}

}  // namespace

}  // namespace ferry::sim

using ferry::sim::Call;
using ferry::sim::ImageFile;
using ferry::sim::KernelEntry;
using ferry::sim::Library;
using ferry::sim::LibraryEntry;
using ferry::sim::ModuleVariable;
using ferry::sim::Need;
using ferry::sim::Symbol;
using ferry::sim::to_handle;
using ferry::sim::value_of;
using ferry::sim::with_kernel;
using ferry::sim::with_library;

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* jitOptions,
                           void** jitOptionsValues, unsigned int numJitOptions,
                           CUlibraryOption* libraryOptions, void** libraryOptionValues,
                           unsigned int numLibraryOptions) {
  return Library::get().call(Symbol::cuLibraryLoadData, Need::initialised, [&](Call& call) {
    if (library == nullptr || code == nullptr ||
        !ferry::sim::are_options(numLibraryOptions, libraryOptions, libraryOptionValues)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return ferry::sim::add_library(call, ferry::sim::keep_image(ferry::sim::find_image(code)),
                                   {numJitOptions, jitOptions, jitOptionsValues}, library);
  });
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* fileName, CUjit_option* jitOptions,
                               void** jitOptionsValues, unsigned int numJitOptions,
                               CUlibraryOption* libraryOptions, void** libraryOptionValues,
                               unsigned int numLibraryOptions) {
  return Library::get().call(Symbol::cuLibraryLoadFromFile, Need::initialised, [&](Call& call) {
    if (library == nullptr || fileName == nullptr ||
        !ferry::sim::are_options(numLibraryOptions, libraryOptions, libraryOptionValues)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const ImageFile file(fileName);
    if (!file.exists()) return CUDA_ERROR_FILE_NOT_FOUND;
    return ferry::sim::add_library(call, ferry::sim::keep_image(file.image()),
                                   {numJitOptions, jitOptions, jitOptionsValues}, library);
  });
}

CUresult cuLibraryUnload(CUlibrary library) {
  return Library::get().call(Symbol::cuLibraryUnload, Need::initialised, [&](Call& call) {
    const LibraryEntry* const entry = call.machine.libraries.find(value_of(library));
    if (entry == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::vector<std::uint64_t> modules;
    for (const auto& [context, module] : entry->modules) modules.push_back(module);
    ferry::sim::end_managed_variables(call, Symbol::cuLibraryUnload, value_of(library));
    ferry::sim::end_variables(call, Symbol::cuLibraryUnload, modules);
    // Host functions may have run meanwhile, and other threads.
    if (call.machine.libraries.find(value_of(library)) == nullptr) return CUDA_ERROR_INVALID_VALUE;
    ferry::sim::unload_library(call.machine, value_of(library));
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetKernel(CUkernel* pKernel, CUlibrary library, const char* name) {
  return with_library(Symbol::cuLibraryGetKernel, Need::initialised, library, [&](Call& call) {
    if (pKernel == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto kernel = ferry::sim::kernel_of(call.machine, value_of(library), name);
    if (!kernel) return CUDA_ERROR_NOT_FOUND;
    *pKernel = to_handle<CUkernel>(*kernel);
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary lib) {
  return with_library(Symbol::cuLibraryGetKernelCount, Need::initialised, lib, [&](Call& call) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto* const names = ferry::sim::kernels_of(call, lib);
    if (names == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
    *count = static_cast<unsigned>(names->size());
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int numKernels, CUlibrary lib) {
  return with_library(Symbol::cuLibraryEnumerateKernels, Need::initialised, lib, [&](Call& call) {
    if (kernels == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto* const names = ferry::sim::kernels_of(call, lib);
    if (names == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
    const std::size_t count = std::min<std::size_t>(numKernels, names->size());
    for (std::size_t i = 0; i < count; ++i) {
      kernels[i] =
          to_handle<CUkernel>(*ferry::sim::kernel_of(call.machine, value_of(lib), (*names)[i]));
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name) {
  return with_library(Symbol::cuLibraryGetGlobal, Need::context, library, [&](Call& call) {
    if ((dptr == nullptr && bytes == nullptr) || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::uint64_t module =
        ferry::sim::module_of(call.machine, value_of(library), call.context->handle);
    ModuleVariable variable;
    const CUresult result = ferry::sim::variable_of(call.machine, module, name, variable);
    return ferry::sim::give_variable(result, variable, dptr, bytes);
  });
}

CUresult cuLibraryGetManaged(CUdeviceptr* dptr, size_t* bytes, CUlibrary library,
                             const char* name) {
  return with_library(Symbol::cuLibraryGetManaged, Need::initialised, library, [&](Call& call) {
    if ((dptr == nullptr && bytes == nullptr) || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    ModuleVariable variable;
    const CUresult result =
        ferry::sim::managed_variable_of(call.machine, value_of(library), name, variable);
    return ferry::sim::give_variable(result, variable, dptr, bytes);
  });
}

// The devices have none (CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS).
CUresult cuLibraryGetUnifiedFunction(void** fptr, CUlibrary library, const char* symbol) {
  return with_library(Symbol::cuLibraryGetUnifiedFunction, Need::initialised, library, [&](Call&) {
    return fptr == nullptr || symbol == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_FOUND;
  });
}

CUresult cuLibraryGetModule(CUmodule* pMod, CUlibrary library) {
  return with_library(Symbol::cuLibraryGetModule, Need::context, library, [&](Call& call) {
    if (pMod == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *pMod = to_handle<CUmodule>(
        ferry::sim::module_of(call.machine, value_of(library), call.context->handle));
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetFunction(CUfunction* pFunc, CUkernel kernel) {
  return with_kernel(
      Symbol::cuKernelGetFunction, Need::context, kernel, [&](Call& call, KernelEntry& entry) {
        if (pFunc == nullptr) return CUDA_ERROR_INVALID_VALUE;
        const std::uint64_t module =
            ferry::sim::module_of(call.machine, entry.library, call.context->handle);
        *pFunc = to_handle<CUfunction>(*ferry::sim::function_of(call.machine, module, entry.name));
        return CUDA_SUCCESS;
      });
}

CUresult cuKernelGetLibrary(CUlibrary* pLib, CUkernel kernel) {
  return with_kernel(Symbol::cuKernelGetLibrary, Need::initialised, kernel,
                     [&](Call&, KernelEntry& entry) {
                       if (pLib == nullptr) return CUDA_ERROR_INVALID_VALUE;
                       *pLib = to_handle<CUlibrary>(entry.library);
                       return CUDA_SUCCESS;
                     });
}

CUresult cuKernelGetName(const char** name, CUkernel hfunc) {
  return with_kernel(Symbol::cuKernelGetName, Need::initialised, hfunc,
                     [&](Call&, KernelEntry& entry) {
                       if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
                       *name = entry.name.c_str();  // lives until the library is unloaded
                       return CUDA_SUCCESS;
                     });
}
