// SPDX-License-Identifier: Apache-2.0
// A file without a name that processes share: a memfd that says what it is, and whose size nobody
// can change any more. A process that is handed a descriptor of any kind can tell whether it is
// one, and may map it without fear that it shrinks. Owned by what is shared; requires no lock.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace ferry::sim {

// Which file it is, in every process of the machine, as long as anyone has it open.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  friend auto operator<=>(const FileId&, const FileId&) = default;
};

// Memory of cuMemCreate, of cuMemAlloc, of a pool; an event.
enum class SharedKind : std::uint32_t { created = 1, allocated = 2, pool = 3, event = 4 };

// What the file holds, in its own words. Whoever reads it must check it: other programs can write
// what they like.
struct SharedDescription {
  SharedKind kind = SharedKind::created;
  std::int32_t device = 0;      // physical index
  std::uint32_t with_data = 0;  // 0: sizes only
  std::uint32_t rdma = 0;
  std::uint64_t size = 0;  // of what is shared; the file has more
};

// A part of a file in memory, until it goes.
class MappedPart {
 public:
  MappedPart() = default;
  MappedPart(std::byte* data, std::uint64_t bytes) : data_(data), bytes_(bytes) {}
  ~MappedPart();
  MappedPart(MappedPart&& other) noexcept;
  MappedPart& operator=(MappedPart&& other) noexcept;

  // Null where nothing is mapped.
  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

class SealedFile {
 public:
  // With `bytes` of zeros. Null when the system has no more files or memory.
  [[nodiscard]] static std::shared_ptr<SealedFile> create(const SharedDescription& description,
                                                          std::uint64_t bytes);
  // The file behind a descriptor of this process, opened anew: the descriptor stays the caller's.
  // Null for one that is closed, is no such file, or is of another kind.
  [[nodiscard]] static std::shared_ptr<SealedFile> open(int descriptor, SharedKind kind);

  // The same for a descriptor of another process, which must have the same user. `what` says why
  // nothing was opened.
  enum class Opening : std::uint8_t { done, gone, refused };
  [[nodiscard]] static std::shared_ptr<SealedFile> open_of(pid_t process, int descriptor,
                                                           const FileId& id, SharedKind kind,
                                                           Opening& what);

  ~SealedFile();
  SealedFile(const SealedFile&) = delete;
  SealedFile& operator=(const SealedFile&) = delete;

  // A new descriptor of the file for the program, which must close it; -1 when there are no more.
  // Closed when the program is replaced by another one.
  [[nodiscard]] int give_descriptor() const;
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] const FileId& id() const { return id_; }
  [[nodiscard]] const SharedDescription& description() const { return description_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  // Requires: offset is a multiple of the page's size, and the part lies in the file's bytes.
  [[nodiscard]] MappedPart map(std::uint64_t offset, std::uint64_t bytes) const;

  // Keeps other processes, not other threads, out of a stretch of the bytes. Ends with the process,
  // whatever happens to it. False when the system refuses.
  [[nodiscard]] bool lock(std::uint64_t offset, std::uint64_t bytes) const;
  void unlock(std::uint64_t offset, std::uint64_t bytes) const;

  // A sign of life at a place behind the bytes, which nobody else may take: there until this object
  // goes, or the process ends or runs another program, however it does. False when the system
  // refuses, or another one has the place.
  [[nodiscard]] bool hold(std::uint64_t place);
  // Whether anyone holds the place; also where the system does not tell.
  [[nodiscard]] bool is_held(std::uint64_t place) const;
  // For a child of fork, which would hold what its parent does.
  void leave();

 private:
  explicit SealedFile(int descriptor) : descriptor_(descriptor) {}
  [[nodiscard]] bool read_description(SharedKind kind);
  [[nodiscard]] bool identify();

  int descriptor_;
  int holding_ = -1;  // opened once more: a mapping, which children have too, would keep the lock
  FileId id_;
  SharedDescription description_;
  std::uint64_t bytes_ = 0;  // without the description
};

}  // namespace ferry::sim
