// SPDX-License-Identifier: Apache-2.0
// Physical memory of the simulated devices: what cuMemCreate and cuMemAlloc take from. Counts every
// block against its device's capacity from creation on, but takes a frame of real backing only when
// a byte of it is written.
//
// Bytes that were never written read as kPoison: fresh device memory has no defined contents, and
// must not look as if it were cleared. A block can be made to begin as zeros instead, and all can:
// where kernels are skipped, what they would have written reads as zeros.
//
// A block's bytes can move into a file that other processes share (SharedMemory), and blocks can be
// made of such a file. A file's stretch is one block in this process, however often it came here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "sim/memory/frame_window.hpp"
#include "sim/memory/shared_memory.hpp"
#include "sim/words/machine_limits.hpp"

namespace ferry::sim {

class PhysicalBlock {
 public:
  PhysicalBlock(std::uint64_t block_id, std::uint64_t place, int owner, std::uint64_t bytes)
      : id(block_id), position(place), device(owner), size(bytes) {}

  const std::uint64_t id;        // unique in the process
  const std::uint64_t position;  // of its first byte among all that ever were; no host address
  const int device;
  const std::uint64_t size;
  bool rdma = false;          // created for direct access by other devices
  unsigned handle_types = 0;  // CUmemAllocationHandleType, as it may be exported

  // Null while only this process has it.
  [[nodiscard]] const SharedRange* shared() const { return shared_.get(); }
  // It is another process's: that one accounts for it.
  [[nodiscard]] bool foreign() const { return foreign_; }
  // What its bytes that were never written read as.
  [[nodiscard]] unsigned char unwritten() const { return unwritten_; }

 private:
  friend class PhysicalMemory;
  struct Frame {
    std::uint32_t slot = 0;
    PageSet touched;
  };
  std::vector<std::unique_ptr<Frame>>
      frames_;  // empty until the first write, and once it is shared
  std::unique_ptr<SharedRange> shared_;
  bool foreign_ = false;
  unsigned char unwritten_ = kPoison;
  std::map<std::uint64_t, OfferId> offers_;  // by offset
};

class PhysicalMemory {
 public:
  PhysicalMemory(int devices, Bytes capacity, bool with_data);

  // What other processes have taken counts as used, and no piece is larger than the limits allow.
  void set_limits(const MachineLimits& limits) {
    taken_ = limits.taken;
    largest_piece_ = limits.largest_piece;
  }

  // Blocks made from now on begin as zeros.
  void begin_all_as_zeros() { unwritten_ = 0; }

  // Null when the device's capacity is used up, or no piece of it is large enough. The memory is
  // given back when the last owner of the block lets go. Requires: this object outlives the block.
  [[nodiscard]] std::shared_ptr<PhysicalBlock> create(int device, std::uint64_t size);

  // Moves the block's bytes into `memory`, from `start` on. False when the system refuses; then
  // nothing has changed. Requires: it is not shared yet.
  [[nodiscard]] bool share(const std::shared_ptr<PhysicalBlock>& block,
                           std::shared_ptr<SharedMemory> memory, std::uint64_t start);
  // The block that a stretch of shared memory is here: of this process, or of another one, for
  // which nothing is counted. Requires: the stretch lies in the memory.
  [[nodiscard]] std::shared_ptr<PhysicalBlock> adopt(std::shared_ptr<SharedMemory> memory,
                                                     std::uint64_t start, std::uint64_t size,
                                                     int device);
  // Lets other processes open a part of a shared block, until it is withdrawn. The same each time.
  [[nodiscard]] std::optional<OfferId> offer(PhysicalBlock& block, std::uint64_t offset,
                                             std::uint64_t size);
  void withdraw(PhysicalBlock& block, std::uint64_t offset);

  // Nothing is taken for its zeros. Requires: the block is new, and is never shared.
  static void begin_as_zeros(PhysicalBlock& block) { block.unwritten_ = 0; }

  [[nodiscard]] bool with_data() const { return with_data_; }
  [[nodiscard]] Bytes capacity() const { return capacity_; }
  [[nodiscard]] Bytes in_use(int device) const { return in_use_[static_cast<std::size_t>(device)]; }
  [[nodiscard]] Bytes free(int device) const;

  // Requires for all: with_data, and the range lies in the block.
  void read(const PhysicalBlock& block, std::uint64_t offset, std::byte* out,
            std::uint64_t bytes) const;
  // The bytes of [offset, +bytes) that lie in one page: in place, or null where they were never
  // written.
  [[nodiscard]] const std::byte* peek_page(const PhysicalBlock& block, std::uint64_t offset) const;
  // Room to write [offset, +bytes) in place; the range must lie in one frame. Null when the window
  // is used up, which only happens when a test touches more than the machine can map.
  [[nodiscard]] std::byte* open_for_write(PhysicalBlock& block, std::uint64_t offset,
                                          std::uint64_t bytes);
  // Maps whole pages of a block a second time, at `where`, and makes them pages that were written:
  // who has them there writes without a word. The range must lie in one frame. False when the
  // system refuses. Requires: offset, bytes and `where` are multiples of the page; the block is not
  // shared, and stays as it is for as long as the pages are used there.
  [[nodiscard]] bool map_in_frame(PhysicalBlock& block, std::uint64_t offset, std::uint64_t bytes,
                                  std::byte* where);
  // The range reads as never written again.
  void discard(PhysicalBlock& block, std::uint64_t offset, std::uint64_t bytes);

 private:
  struct SharedPlace {
    FileId file;
    std::uint64_t start = 0;
    std::uint64_t size = 0;

    friend auto operator<=>(const SharedPlace&, const SharedPlace&) = default;
  };

  [[nodiscard]] std::shared_ptr<PhysicalBlock> make(int device, std::uint64_t size);
  void destroy(PhysicalBlock* block);
  void attach(const std::shared_ptr<PhysicalBlock>& block, std::unique_ptr<SharedRange> range);
  [[nodiscard]] std::byte* written_page(const PhysicalBlock& block, std::uint64_t offset) const;
  void give_frames(PhysicalBlock& block);

  Bytes capacity_;
  bool with_data_;
  unsigned char unwritten_ = kPoison;  // of new blocks
  Bytes taken_;                        // of each device, by other processes
  std::optional<Bytes> largest_piece_;
  std::vector<Bytes> in_use_;  // by device
  std::uint64_t next_id_ = 1;
  std::uint64_t next_position_ = std::uint64_t{1} << 60;
  std::optional<FrameWindow> window_;  // none without data
  std::map<SharedPlace, std::weak_ptr<PhysicalBlock>> shared_;
};

}  // namespace ferry::sim
