// SPDX-License-Identifier: Apache-2.0
// The bytes behind simulated device memory: one memfd, mapped once, cut into frames of 2 MiB. A
// frame costs real memory only for the 4 KiB pages that were touched. Frames that come back are
// handed out again last in, first out, because their pages are already faulted in; above a cap of
// resident free pages they are punched out of the memfd instead.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ferry::sim {

inline constexpr std::uint64_t kFrameBytes = std::uint64_t{2} << 20;
inline constexpr std::uint64_t kPageBytes = 4096;
inline constexpr std::size_t kPagesPerFrame = kFrameBytes / kPageBytes;

// What bytes read as that were never written.
inline constexpr unsigned char kPoison = 0xA5;

using PageSet = std::bitset<kPagesPerFrame>;

class FrameWindow {
 public:
  // Maps as much as the system allows, up to `size` bytes. May end up with nothing (see take).
  explicit FrameWindow(std::uint64_t size);
  ~FrameWindow();
  FrameWindow(const FrameWindow&) = delete;
  FrameWindow& operator=(const FrameWindow&) = delete;

  // A frame whose contents are left over from earlier use. Nothing when the window is used up.
  [[nodiscard]] std::optional<std::uint32_t> take();
  // `touched`: the pages the user of the frame wrote.
  void give(std::uint32_t frame, const PageSet& touched);

  [[nodiscard]] std::byte* data(std::uint32_t frame) const { return base_ + frame * kFrameBytes; }

  // Maps a stretch of whole pages of a frame a second time, in place of what is there. False when
  // the system refuses. Requires: `where` begins a page.
  [[nodiscard]] bool map(std::uint32_t frame, std::uint64_t offset, std::uint64_t bytes,
                         std::byte* where) const;

  // Pages of free frames that still occupy real memory.
  [[nodiscard]] std::uint64_t resident_free_pages() const { return resident_free_pages_; }

 private:
  bool punch(std::uint32_t frame);

  int file_ = -1;
  std::byte* base_ = nullptr;
  std::uint64_t frames_ = 0;
  std::uint32_t next_unused_ = 0;
  std::vector<PageSet> resident_;    // by frame, for frames below next_unused_
  std::vector<std::uint32_t> warm_;  // free, some pages resident
  std::vector<std::uint32_t> cold_;  // free, punched
  std::uint64_t resident_free_pages_ = 0;
};

}  // namespace ferry::sim
