// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/frame_window.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace ferry::sim {
namespace {

constexpr std::uint64_t kWindow = std::uint64_t{8} << 30;

PageSet first_pages(std::size_t count) {
  PageSet pages;
  for (std::size_t i = 0; i < count; ++i) pages.set(i);
  return pages;
}

TEST(FrameWindow, FramesAreApartAndWritable) {
  FrameWindow window(kWindow);
  const std::uint32_t a = window.take().value();
  const std::uint32_t b = window.take().value();
  ASSERT_NE(a, b);
  std::memset(window.data(a), 1, kFrameBytes);
  std::memset(window.data(b), 2, kFrameBytes);
  EXPECT_EQ(window.data(a)[kFrameBytes - 1], std::byte{1});
  EXPECT_EQ(window.data(b)[0], std::byte{2});
}

TEST(FrameWindow, TheLastFreedFrameComesFirst) {
  FrameWindow window(kWindow);
  const std::uint32_t a = window.take().value();
  const std::uint32_t b = window.take().value();
  window.give(a, first_pages(1));
  window.give(b, first_pages(1));
  EXPECT_EQ(window.take(), b);
  EXPECT_EQ(window.take(), a);
}

TEST(FrameWindow, CountsResidentPagesOfFreeFrames) {
  FrameWindow window(kWindow);
  const std::uint32_t a = window.take().value();
  window.give(a, first_pages(10));
  EXPECT_EQ(window.resident_free_pages(), 10U);
  ASSERT_EQ(window.take(), a);
  EXPECT_EQ(window.resident_free_pages(), 0U);
  window.give(a, first_pages(3));
  EXPECT_EQ(window.resident_free_pages(), 10U) << "the pages of earlier use are still there";
}

TEST(FrameWindow, FreeFramesAboveTheCapArePunched) {
  FrameWindow window(kWindow);
  constexpr std::size_t kFrames = 300;  // the cap is 256 full frames
  std::vector<std::uint32_t> frames;
  for (std::size_t i = 0; i < kFrames; ++i) frames.push_back(window.take().value());
  // Claimed, not really written: the cap goes by what the user reports.
  for (const std::uint32_t frame : frames) window.give(frame, first_pages(kPagesPerFrame));
  EXPECT_EQ(window.resident_free_pages(), 256 * kPagesPerFrame);
  for (std::size_t i = 0; i < kFrames; ++i) EXPECT_TRUE(window.take());
  EXPECT_EQ(window.resident_free_pages(), 0U);
}

TEST(FrameWindow, EndsWhereTheWindowEnds) {
  FrameWindow window(kWindow);
  for (std::uint64_t i = 0; i < kWindow / kFrameBytes; ++i) ASSERT_TRUE(window.take());
  EXPECT_EQ(window.take(), std::nullopt);
}

TEST(FrameWindow, OneTooSmallForTheSystemIsEmpty) {
  FrameWindow window(1);
  EXPECT_EQ(window.take(), std::nullopt);
}

}  // namespace
}  // namespace ferry::sim
