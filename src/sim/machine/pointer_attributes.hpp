// SPDX-License-Identifier: Apache-2.0
// cuPointerGetAttribute: what the driver knows about an address, host or device.
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

}  // namespace ferry::sim
