// SPDX-License-Identifier: Apache-2.0
// Plain device memory that goes to other processes by a handle of 64 bytes (cuIpcGetMemHandle), and
// that of others which this process has opened. Owned by the machine; requires the library's lock.
//
// A handle stands for one allocation with the exact size that was asked for. A real driver maps the
// whole block of physical memory, neighbours included. The process that made it must still run, and
// have the same user and process numbers as this one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

#include "sim/machine/ipc_handle.hpp"
#include "sim/words/cuda_api.hpp"

namespace ferry::sim {

struct Call;
struct Context;
class Machine;

class OpenedMemory {
 public:
  struct Opened {
    IpcHandle handle;
    std::uint64_t context = 0;
    std::uint64_t bytes = 0;
    unsigned times = 1;
  };

  // By address.
  [[nodiscard]] std::map<std::uint64_t, Opened>& all() { return all_; }

 private:
  std::map<std::uint64_t, Opened> all_;
};

[[nodiscard]] CUresult get_memory_handle(Call& call, void* out, CUdeviceptr address);
[[nodiscard]] CUresult open_memory_handle(Call& call, CUdeviceptr* out, const void* bytes,
                                          unsigned flags);
// Finishes the work of the context that opened it first, on which no program may rely.
[[nodiscard]] CUresult close_memory_handle(Call& call, CUdeviceptr address);
// The context ends. Requires: nothing is queued in it.
void close_all_of(Machine& machine, std::uint64_t context);

}  // namespace ferry::sim
