// SPDX-License-Identifier: Apache-2.0
// What the 64 bytes of a handle for another process say: which process has the file open, by which
// descriptor, and which file it is. Nothing is left behind when the process ends, however it ends:
// the file goes with it, and a number that was given to something else since is found out. Plain
// values.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <cstring>
#include <optional>

#include "sim/memory/shared_memory.hpp"

namespace ferry::sim {

inline constexpr std::size_t kIpcHandleBytes = 64;

struct IpcHandle {
  SharedKind kind = SharedKind::allocated;
  pid_t process = 0;
  int descriptor = 0;
  FileId file;
  OfferId offer;  // of memory

  friend auto operator<=>(const IpcHandle&, const IpcHandle&) = default;
};

namespace detail {

constexpr char kIpcMagic[8] = {'f', 'e', 'r', 'r', 'y', 'i', 'p', 'c'};

struct IpcHandleBytes {
  char magic[8];
  SharedKind kind;
  std::int32_t process;
  std::int32_t descriptor;
  std::uint32_t place;
  std::uint64_t generation;
  FileId file;
};
static_assert(sizeof(IpcHandleBytes) <= kIpcHandleBytes);

}  // namespace detail

inline void write_ipc_handle(const IpcHandle& handle, void* out) {
  detail::IpcHandleBytes bytes{};
  std::memcpy(bytes.magic, detail::kIpcMagic, sizeof bytes.magic);
  bytes.kind = handle.kind;
  bytes.process = handle.process;
  bytes.descriptor = handle.descriptor;
  bytes.place = handle.offer.place;
  bytes.generation = handle.offer.generation;
  bytes.file = handle.file;
  std::memset(out, 0, kIpcHandleBytes);
  std::memcpy(out, &bytes, sizeof bytes);
}

// Nothing where the bytes are no handle of this kind.
[[nodiscard]] inline std::optional<IpcHandle> read_ipc_handle(const void* in, SharedKind kind) {
  detail::IpcHandleBytes bytes{};
  std::memcpy(&bytes, in, sizeof bytes);
  if (std::memcmp(bytes.magic, detail::kIpcMagic, sizeof bytes.magic) != 0) return std::nullopt;
  if (bytes.kind != kind) return std::nullopt;
  return IpcHandle{
      bytes.kind, bytes.process, bytes.descriptor, bytes.file, {bytes.place, bytes.generation}};
}

}  // namespace ferry::sim
