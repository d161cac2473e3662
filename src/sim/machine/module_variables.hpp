// SPDX-License-Identifier: Apache-2.0
// The memory of the variables that images declare. Each variable gets it, with its first values,
// when it is first asked for: of the device, in the module's context, or managed memory where it
// is declared so. It goes with the module. Managed variables of a library are the same in all
// contexts and go with the library. To the hazard checker each is an allocation that has a name.
//
// Nothing is known of the variables of an image that cannot be read (image_symbols.hpp): then none
// is found, which is said once. So is it where a part of a first value is not known. Requires the
// library's lock.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "sim/machine/library.hpp"

namespace ferry::sim {

// Requires for both: the module or the library is there. Errors: not found, out of memory.
[[nodiscard]] CUresult variable_of(Machine& machine, std::uint64_t module, std::string_view name,
                                   ModuleVariable& out);
[[nodiscard]] CUresult managed_variable_of(Machine& machine, std::uint64_t library,
                                           std::string_view name, ModuleVariable& out);

// What the exported functions hand out; either may be null.
[[nodiscard]] inline CUresult give_variable(CUresult result, const ModuleVariable& variable,
                                            CUdeviceptr* address, std::size_t* bytes) {
  if (result != CUDA_SUCCESS) return result;
  if (address != nullptr) *address = variable.address;
  if (bytes != nullptr) *bytes = variable.bytes;
  return CUDA_SUCCESS;
}

// Before modules go by a call of the program: finishes the work of their contexts, and takes their
// variables' memory away. No program may rely on the waiting: cuda.h does not promise it.
void end_variables(Call& call, Symbol symbol, const std::vector<std::uint64_t>& modules);
// The same for the managed ones of a library.
void end_managed_variables(Call& call, Symbol symbol, std::uint64_t library);

// Takes their memory away, whoever uses it.
void free_variables(Machine& machine, ModuleVariables& variables);

}  // namespace ferry::sim
