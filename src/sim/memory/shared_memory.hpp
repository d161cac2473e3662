// SPDX-License-Identifier: Apache-2.0
// Physical memory that several processes see: its bytes, which of its pages were ever written, and
// which allocations in it are offered to others. All of it lies in one sealed file, and other
// processes change it at any time: nothing read from it is trusted. Owned by the blocks and pools
// whose memory it is; requires the library's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "sim/memory/sealed_file.hpp"

namespace ferry::sim {

// One allocation that others may open, by its place among the offers. Places are used again,
// generations are not.
struct OfferId {
  std::uint32_t place = 0;
  std::uint64_t generation = 0;

  friend auto operator<=>(const OfferId&, const OfferId&) = default;
};

struct Offer {
  std::uint64_t block_start = 0;  // of the physical block that it lies in
  std::uint64_t block_size = 0;
  std::uint64_t offset = 0;  // in the block
  std::uint64_t size = 0;
};

class SharedMemory {
 public:
  static constexpr std::uint32_t kMostOffers = 4096;

  // Null when the system has no more files or memory. Requires: the size is of whole pages.
  [[nodiscard]] static std::shared_ptr<SharedMemory> create(const SharedDescription& description);
  // Null when the file's size is not what its description asks for.
  [[nodiscard]] static std::shared_ptr<SharedMemory> open(std::shared_ptr<SealedFile> file);

  [[nodiscard]] const SealedFile& file() const { return *file_; }
  [[nodiscard]] const SharedDescription& description() const { return file_->description(); }
  [[nodiscard]] std::uint64_t size() const { return description().size; }

  // Nothing when there are as many as there can be.
  [[nodiscard]] std::optional<OfferId> offer(const Offer& offer);
  void withdraw(const OfferId& id);
  // Nothing for an offer that was withdrawn, never was, or is nonsense.
  [[nodiscard]] std::optional<Offer> find(const OfferId& id) const;

  // Pages of kPageBytes, counted from the start of the memory.
  [[nodiscard]] bool is_written(std::uint64_t page) const;
  void mark_written(std::uint64_t page);

  // The bytes themselves; null data when the system refuses. Requires: whole pages in the memory.
  [[nodiscard]] MappedPart map(std::uint64_t start, std::uint64_t bytes) const;
  // Keeps other processes out of a page, so that one of them alone prepares it.
  [[nodiscard]] bool lock_page(std::uint64_t page) const;
  void unlock_page(std::uint64_t page) const;

 private:
  struct Place;

  SharedMemory(std::shared_ptr<SealedFile> file, MappedPart head);
  [[nodiscard]] Place& place(std::uint32_t number) const;
  [[nodiscard]] std::uint64_t& written_word(std::uint64_t page) const;

  std::shared_ptr<SealedFile> file_;
  MappedPart head_;  // the offers and the written pages
  std::uint64_t next_generation_ = 1;
  std::uint32_t next_place_ = 0;
};

// A stretch of shared memory as the contents of one physical block.
class SharedRange {
 public:
  SharedRange(std::shared_ptr<SharedMemory> memory, std::uint64_t start, std::uint64_t size)
      : memory_(std::move(memory)), start_(start), size_(size) {}

  [[nodiscard]] SharedMemory& memory() const { return *memory_; }
  [[nodiscard]] std::uint64_t start() const { return start_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

  // The byte at `offset`, up to the end of its page; null where the page was never written, or the
  // system cannot map it.
  [[nodiscard]] std::byte* peek(std::uint64_t offset);
  // Room for [offset, +bytes); pages that are written only in part are filled with poison first.
  // Null when the system cannot map it.
  [[nodiscard]] std::byte* open_for_write(std::uint64_t offset, std::uint64_t bytes);

 private:
  [[nodiscard]] std::byte* data();
  [[nodiscard]] bool prepare(std::uint64_t page);  // of the memory

  std::shared_ptr<SharedMemory> memory_;
  std::uint64_t start_;
  std::uint64_t size_;
  MappedPart mapped_;  // from the first use on
};

}  // namespace ferry::sim
