// SPDX-License-Identifier: Apache-2.0
// cuPointerGetAttribute and cuPointerSetAttribute: what the driver knows about an address, host or
// device.
#pragma once

#include "sim/machine/library.hpp"

namespace ferry::sim {

// Writes the attribute to `data`, in the type that cuda.h gives it. Errors: an address that the
// driver does not know, an attribute that the address does not have.
[[nodiscard]] CUresult pointer_attribute(Call& call, CUpointer_attribute attribute,
                                         CUdeviceptr address, void* data);

// The same, but writes the attribute's zero value where the address has none; an error only for an
// attribute that is not known at all.
[[nodiscard]] CUresult pointer_attribute_or_default(Call& call, CUpointer_attribute attribute,
                                                    CUdeviceptr address, void* data);

// Errors: an address without memory, an attribute that is not to be set.
[[nodiscard]] CUresult set_pointer_attribute(Call& call, CUpointer_attribute attribute,
                                             CUdeviceptr address, const void* value);

// Whether fills and copies by plain names wait for their end there (SYNC_MEMOPS).
[[nodiscard]] bool has_sync_memops(Machine& machine, std::uint64_t address);

}  // namespace ferry::sim
