// SPDX-License-Identifier: Apache-2.0
// Pools between processes: a pool goes as a file descriptor, what is allocated from it as 64 bytes
// that mean something only to who has the pool. Stands on the machine; requires the library's lock.
//
// As the real driver has it: imported pools give out no memory of their own, are usable from their
// own device alone until the importer says otherwise, and the memory of a pool that may be shared
// does not go back to the device before the pool's end. An allocation that its pool has freed can
// no longer be imported.
#pragma once

#include "sim/machine/machine.hpp"

namespace ferry::sim {

[[nodiscard]] CUresult export_pool(Machine& machine, void* out, CUmemoryPool pool, unsigned type,
                                   unsigned long long flags);
[[nodiscard]] CUresult import_pool(Machine& machine, CUmemoryPool* out, void* os_handle,
                                   unsigned type, unsigned long long flags);
[[nodiscard]] CUresult export_pool_memory(Machine& machine, void* out, CUdeviceptr address);
[[nodiscard]] CUresult import_pool_memory(Machine& machine, CUdeviceptr* out, CUmemoryPool pool,
                                          const void* data);

}  // namespace ferry::sim
