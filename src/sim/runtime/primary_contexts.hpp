// SPDX-License-Identifier: Apache-2.0
// The primary contexts of the process, one for each device, retained at the first use of the device
// and kept until the end of the process; and the device that a thread has chosen.
#pragma once

#include <cuda.h>

namespace ferry::sim::runtime {

// What cudaSetDevice said last in this thread; at first 0.
[[nodiscard]] int device_of_thread();
void set_device_of_thread(int device);

// Retains the primary context where that has not been done.
[[nodiscard]] CUresult primary_context(int device, CUcontext& out);
// And makes it current.
[[nodiscard]] CUresult make_current(int device);

// Empties the primary context of a device: its memory, streams, events and code go. It stays
// current where it is.
[[nodiscard]] CUresult reset_device(int device);

}  // namespace ferry::sim::runtime
