// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/frame_window.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ferry::sim {

namespace {

constexpr std::uint64_t kSmallestWindow = std::uint64_t{8} << 30;
constexpr std::uint64_t kResidentCapPages = (std::uint64_t{512} << 20) / kPageBytes;

}  // namespace

FrameWindow::FrameWindow(std::uint64_t size) {
  file_ = memfd_create("ferry-sim-device-memory", MFD_CLOEXEC);
  if (file_ < 0) return;
  for (; size >= kSmallestWindow; size /= 2) {
    if (ftruncate(file_, static_cast<off_t>(size)) != 0) continue;
    void* const mapped =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
    if (mapped == MAP_FAILED) continue;
    base_ = static_cast<std::byte*>(mapped);
    frames_ = size / kFrameBytes;
    // A core file with terabytes of simulated memory helps nobody; failure to exclude it is
    // harmless.
    madvise(mapped, size, MADV_DONTDUMP);
    return;
  }
}

FrameWindow::~FrameWindow() {
  if (base_ != nullptr) munmap(base_, frames_ * kFrameBytes);
  if (file_ >= 0) close(file_);
}

std::optional<std::uint32_t> FrameWindow::take() {
  for (std::vector<std::uint32_t>* list : {&warm_, &cold_}) {
    if (list->empty()) continue;
    const std::uint32_t frame = list->back();
    list->pop_back();
    resident_free_pages_ -= resident_[frame].count();
    return frame;
  }
  if (next_unused_ >= frames_) return std::nullopt;
  resident_.emplace_back();
  return next_unused_++;
}

void FrameWindow::give(std::uint32_t frame, const PageSet& touched) {
  resident_[frame] |= touched;
  const std::uint64_t pages = resident_[frame].count();
  if (resident_free_pages_ + pages > kResidentCapPages && punch(frame)) {
    resident_[frame].reset();
    cold_.push_back(frame);
    return;
  }
  resident_free_pages_ += pages;
  warm_.push_back(frame);
}

bool FrameWindow::map(std::uint32_t frame, std::uint64_t offset, std::uint64_t bytes,
                      std::byte* where) const {
  const std::uint64_t in_file = frame * kFrameBytes + offset;
  return mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file_,
              static_cast<off_t>(in_file)) != MAP_FAILED;
}

bool FrameWindow::punch(std::uint32_t frame) {
  return fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                   static_cast<off_t>(frame * kFrameBytes), static_cast<off_t>(kFrameBytes)) == 0;
}

}  // namespace ferry::sim
