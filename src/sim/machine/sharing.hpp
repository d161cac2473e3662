// SPDX-License-Identifier: Apache-2.0
// Sharing by descriptors: physical memory that goes to another process as a file descriptor, and
// comes back from one; and the files behind handles of 64 bytes. Stands on the machine; requires
// the library's lock.
//
// A process accounts for the memory that it made, not for what it imported. Memory that only an
// open descriptor keeps alive is counted by nobody.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "sim/machine/ipc_handle.hpp"
#include "sim/machine/machine.hpp"

namespace ferry::sim {

// Success for the one type that the stand-in has; what asking for another one answers.
[[nodiscard]] CUresult check_handle_type(unsigned type);

// Descriptors travel in the place of a pointer; -1 for what cannot be one.
[[nodiscard]] int descriptor_in(const void* os_handle);

// What a file of memory on a device says of itself, save for its kind and size.
[[nodiscard]] SharedDescription describe_memory(const Machine& machine, int device);

// The ordinal here of a device that another process names; nothing where it is not visible.
[[nodiscard]] std::optional<int> ordinal_of(const Machine& machine, int physical_index);

// Moves a block's bytes into a file of their own, unless they are in one already. False when the
// system has no more files or memory.
[[nodiscard]] bool make_shareable(Machine& machine, const std::shared_ptr<PhysicalBlock>& block,
                                  SharedKind kind);

// Memory of the kind that `file` says is of use here: on a visible device, and, as all memory
// here, with data or without. The device's ordinal in `device`.
[[nodiscard]] CUresult check_usable(const Machine& machine, const SharedDescription& description,
                                    int& device);

// The file that a handle of another process stands for. `function`: who is named where the system
// forbids to look, which is said on standard error.
[[nodiscard]] CUresult open_file_of(const IpcHandle& handle, std::string_view function,
                                    std::shared_ptr<SealedFile>& out);

[[nodiscard]] CUresult export_memory(Machine& machine, void* out,
                                     CUmemGenericAllocationHandle handle, unsigned type,
                                     unsigned long long flags);
[[nodiscard]] CUresult import_memory(Machine& machine, CUmemGenericAllocationHandle* out,
                                     void* os_handle, unsigned type);

}  // namespace ferry::sim
