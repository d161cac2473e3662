// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/module_variables.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "sim/machine/peer_access.hpp"
#include "sim/words/say_once.hpp"

namespace ferry::sim {

namespace {

CUresult make_managed(Machine& machine, std::uint64_t context, int device,
                      const ImageVariable& declared, ModuleVariable& out) {
  void* memory = nullptr;
  const CUresult result =
      machine.host.allocate_managed(&memory, declared.bytes, context, device, true);
  if (result != CUDA_SUCCESS) return result;
  if (!declared.initial.empty())
    std::memcpy(memory, declared.initial.data(), declared.initial.size());
  out.address = reinterpret_cast<std::uintptr_t>(memory);
  return CUDA_SUCCESS;
}

CUresult make_on_device(Machine& machine, const Context& context, const ImageVariable& declared,
                        ModuleVariable& out) {
  const auto address = machine.allocations.allocate(context.handle, context.device, declared.bytes);
  if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
  Mapping& mapping = *machine.pages.find(*address);
  mapping.kind = Mapping::Kind::variable;
  mapping.name = std::make_shared<const std::string>(declared.name);
  mapping.rights = rights_to_memory_of(machine, context);
  // Memory that is shared with other allocations is written, a block of its own begins as zeros.
  const bool is_alone = mapping.block.use_count() == 1;
  if (is_alone) PhysicalMemory::begin_as_zeros(*mapping.block);
  const std::uint64_t given = declared.initial.size();
  CUresult result = CUDA_SUCCESS;
  if (given > 0) {
    const auto first = reinterpret_cast<std::uintptr_t>(declared.initial.data());
    result = machine.operations.copy(context.device, *address, first, given);
  }
  if (result == CUDA_SUCCESS && given < declared.bytes && !is_alone) {
    const std::uint64_t rest = declared.bytes - given;
    result = machine.operations.fill_rows(context.device, {*address + given, rest}, 0, 1, rest, 1);
  }
  if (result != CUDA_SUCCESS) {
    static_cast<void>(machine.allocations.free(*address));
    return result;
  }
  out.address = *address;
  out.buffer_id = mapping.buffer_id;
  return result;
}

// Null where the image declares none of the name, or cannot be read.
const ImageVariable* find_declared(const LoadedImage& image, std::string_view name) {
  const auto* const symbols = image.symbols_or_say("the variables of a module are not found");
  return symbols == nullptr ? nullptr : symbols->find_variable(name);
}

// Runs make(out) where the variable has no memory yet.
template <typename Make>
CUresult find_or_make(ModuleVariables& known, const ImageVariable& declared, ModuleVariable& out,
                      Make&& make) {
  const auto found = known.find(declared.name);
  if (found != known.end()) {
    out = found->second;
    return CUDA_SUCCESS;
  }
  out.bytes = declared.bytes;
  const CUresult result = make(out);
  if (result != CUDA_SUCCESS) return result;
  known.emplace(declared.name, out);
  if (declared.partly_unknown) {
    say_once(
        fmt::format("of the first value of {} a part is zero: it is an address, or an expression "
                    "that the stand-in does not evaluate",
                    declared.name));
  }
  return CUDA_SUCCESS;
}

// Null for managed memory, and where it is gone: another may have its address by now.
const Mapping* mapping_of(Machine& machine, const ModuleVariable& variable) {
  const Mapping* const mapping = machine.pages.find(variable.address);
  return mapping != nullptr && mapping->buffer_id == variable.buffer_id ? mapping : nullptr;
}

void free_managed(Machine& machine, const ModuleVariable& variable) {
  static_cast<void>(machine.host.free_managed(reinterpret_cast<void*>(variable.address)));
}

// They are gone; who may still have used them is reported.
void end_all(Call& call, Symbol symbol, const ModuleVariables& variables, const Clock& seen) {
  Machine& machine = call.machine;
  const Ending ending{symbol, call.site};
  for (const auto& [name, variable] : variables) {
    if (variable.buffer_id == 0) {
      free_managed(machine, variable);
      machine.hazards.note_host_end(ending, variable.address, variable.bytes, seen);
    } else if (const Mapping* const mapping = mapping_of(machine, variable)) {
      const Mapping ended = *mapping;
      static_cast<void>(machine.allocations.free(variable.address));
      machine.hazards.note_end(ending, ended, seen);
    }
  }
}

}  // namespace

CUresult variable_of(Machine& machine, std::uint64_t module, std::string_view name,
                     ModuleVariable& out) {
  ModuleEntry& entry = *machine.modules.find(module);
  const ImageVariable* const declared = find_declared(*entry.image, name);
  if (declared == nullptr) return CUDA_ERROR_NOT_FOUND;
  if (declared->managed && entry.library != 0)
    return managed_variable_of(machine, entry.library, name, out);
  const Context& context = *machine.contexts.find(entry.context);
  return find_or_make(entry.variables, *declared, out, [&](ModuleVariable& made) {
    return declared->managed
               ? make_managed(machine, context.handle, context.device, *declared, made)
               : make_on_device(machine, context, *declared, made);
  });
}

CUresult managed_variable_of(Machine& machine, std::uint64_t library, std::string_view name,
                             ModuleVariable& out) {
  LibraryEntry& entry = *machine.libraries.find(library);
  const ImageVariable* const declared = find_declared(*entry.image, name);
  if (declared == nullptr || !declared->managed) return CUDA_ERROR_NOT_FOUND;
  return find_or_make(entry.managed, *declared, out, [&](ModuleVariable& made) {
    return make_managed(machine, 0, 0, *declared, made);
  });
}

void end_variables(Call& call, Symbol symbol, const std::vector<std::uint64_t>& modules) {
  Machine& machine = call.machine;
  const Clock seen = machine.engine.seen();
  for (const std::uint64_t module : modules) {
    const ModuleEntry* const before = machine.modules.find(module);
    if (before == nullptr || before->variables.empty()) continue;
    machine.engine.finish(call.lock, *machine.contexts.find(before->context)->streams);
    // Host functions may have run meanwhile, and other threads.
    if (ModuleEntry* const entry = machine.modules.find(module))
      end_all(call, symbol, std::exchange(entry->variables, {}), seen);
  }
}

void end_managed_variables(Call& call, Symbol symbol, std::uint64_t library) {
  Machine& machine = call.machine;
  if (machine.libraries.find(library)->managed.empty()) return;
  const Clock seen = machine.engine.seen();
  machine.engine.finish_all(call.lock);
  if (LibraryEntry* const entry = machine.libraries.find(library))
    end_all(call, symbol, std::exchange(entry->managed, {}), seen);
}

void free_variables(Machine& machine, ModuleVariables& variables) {
  for (const auto& [name, variable] : variables) {
    if (variable.buffer_id == 0) {
      free_managed(machine, variable);
    } else if (mapping_of(machine, variable) != nullptr) {
      static_cast<void>(machine.allocations.free(variable.address));
    }
  }
  variables.clear();
}

}  // namespace ferry::sim
