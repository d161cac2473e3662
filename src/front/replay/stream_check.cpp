// SPDX-License-Identifier: Apache-2.0
#include "front/replay/stream_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace ferry::replay {

namespace {

constexpr Bytes kWord{sizeof(std::uint32_t)};
constexpr std::uint64_t kWordsHeld = std::uint64_t{1} << 18;  // 1 MiB of pinned memory
constexpr Bytes kPageOfMarks = 2_MiB;                         // what an allocator moves at least
constexpr Bytes kLargestPitch = 1_GiB;                        // drivers take less than 2 GiB
constexpr std::uint64_t kAlignment = 512;

std::string describe(StreamCheck::Moment when, const char* before, const char* after) {
  if (when == StreamCheck::kBefore) return before;
  if (when == StreamCheck::kAfter) return after;
  return fmt::format("at event {}", when);
}

std::string driver_trouble(const Status& status) {
  return fmt::format(
      "the driver refused work on the replayed blocks: {}. Where it calls an address illegal, "
      "memory was taken away while work that uses it was queued.",
      status.describe());
}

}  // namespace

MarkPlan plan_marks(Bytes size) {
  if (size < kWord) return {};
  const Bytes last = align_down(size, kWord) - kWord;
  if (last == Bytes{}) return {.pitch = kWord, .rows = 1, .last = last};
  if (last <= kPageOfMarks) return {.pitch = last, .rows = 2, .last = last};
  // One mark is kept for the last word.
  Bytes pitch = align_up(Bytes{last.count / (kMostMarks - 2)}, kPageOfMarks);
  pitch = std::clamp(pitch, kPageOfMarks, kLargestPitch);
  const std::uint64_t rows = std::min(last / pitch + 1, kMostMarks - 1);
  return {.pitch = pitch, .rows = rows, .last = last, .extra_last = pitch * (rows - 1) != last};
}

Result<std::unique_ptr<StreamCheck>> StreamCheck::open(Device& device, const Options& options) {
  std::unique_ptr<StreamCheck> check(new StreamCheck(device, options));
  const Result<EventHandle> event = device.create_event();
  if (!event) return event.error();
  check->event_ = *event;
  const Result<void*> words = device.host_alloc(kWord * kWordsHeld);
  if (!words) return words.error();
  check->words_ = static_cast<std::uint32_t*>(*words);
  return check;
}

StreamCheck::~StreamCheck() {
  // Reads may still be on their way into the words. Where the device was lost, none is.
  static_cast<void>(device_.synchronize());
  if (words_ != nullptr) static_cast<void>(device_.host_free(words_));
  if (event_.value != nullptr) static_cast<void>(device_.destroy_event(event_));
}

std::string StreamCheck::allocated(std::uint32_t block, DeviceAddress address, Bytes size,
                                   StreamRef stream, Moment when) {
  if (size == Bytes{}) return "";
  Live live{.use = {block, when}, .size = size, .stream = stream};
  if (std::string trouble = overlap(live.use, address, size); !trouble.empty()) return trouble;
  if (!options_.marks) {
    live_.emplace(address.value, std::move(live));
    return "";
  }
  live.mark = first_mark_ + static_cast<std::uint32_t>(owners_.size());
  owners_.push_back(live.use);
  if (options_.several_streams) live.earlier_users = last_users_.others_in(address, size, stream);
  Status status = queue_write(address, live);
  if (status && !live.earlier_users.empty()) status = device_.synchronize(stream);
  live_.emplace(address.value, std::move(live));
  return status ? "" : driver_trouble(status);
}

std::string StreamCheck::overlap(const Use& use, DeviceAddress address, Bytes size) const {
  if (address.is_null() || address.value % kAlignment != 0) {
    return fmt::format("block {} of {} was given the address {:#x}, which is not aligned to {} B.",
                       use.block, format_bytes(size), address.value, kAlignment);
  }
  const auto after = live_.lower_bound((address + size).value);
  if (after == live_.begin()) return "";
  const auto& [begin, other] = *std::prev(after);
  if (begin + other.size.count <= address.value) return "";
  return fmt::format(
      "block {} of {} was given the address {:#x} ({}), which lies in memory of the live block {} "
      "({} at {:#x}).",
      use.block, format_bytes(size), address.value,
      describe(use.allocated, "in the start set", "at the end"), other.use.block,
      format_bytes(other.size), begin);
}

Status StreamCheck::queue_write(DeviceAddress address, const Live& live) {
  const MarkPlan plan = plan_marks(live.size);
  FERRY_TRY(device_.fill_words(address, plan.pitch, plan.rows, live.mark, live.stream));
  if (!plan.extra_last) return {};
  return device_.fill_words(address + plan.last, kWord, 1, live.mark, live.stream);
}

std::string StreamCheck::freeing(DeviceAddress address, StreamRef stream, Moment when) {
  const auto found = live_.find(address.value);
  if (found == live_.end()) return "";  // a block of 0 bytes
  if (!options_.marks) {
    live_.erase(found);
    return "";
  }
  const Live& live = found->second;
  if (words_used_ + plan_marks(live.size).words() > kWordsHeld) {
    if (std::string trouble = compare(); !trouble.empty()) return trouble;
  }
  const Status status = queue_read(address, live, stream, when);
  if (options_.several_streams) last_users_.record(address, live.size, stream);
  live_.erase(found);
  return status ? "" : driver_trouble(status);
}

Status StreamCheck::queue_read(DeviceAddress address, const Live& live, StreamRef stream,
                               Moment when) {
  for (const StreamRef earlier : live.earlier_users) FERRY_TRY(device_.synchronize(earlier));
  if (stream != live.stream) {
    FERRY_TRY(device_.record(event_, live.stream));
    FERRY_TRY(device_.wait(stream, event_));
  }
  const MarkPlan plan = plan_marks(live.size);
  const std::size_t at = words_used_;
  FERRY_TRY(device_.read_words(words_ + at, address, plan.pitch, plan.rows, stream));
  if (plan.extra_last) {
    FERRY_TRY(device_.read_words(words_ + at + plan.rows, address + plan.last, kWord, 1, stream));
  }
  words_used_ += plan.words();
  reads_.push_back(Read{live.use, when, live.mark, address, plan, at});
  return {};
}

std::string StreamCheck::finish() {
  std::string trouble = compare();
  first_mark_ += static_cast<std::uint32_t>(owners_.size());
  owners_.clear();
  return trouble;
}

std::string StreamCheck::compare() {
  if (const Status status = device_.synchronize(); !status) return driver_trouble(status);
  for (const Read& read : reads_) {
    for (std::uint64_t word = 0; word < read.plan.words(); ++word) {
      if (words_[read.at + word] != read.mark) return describe_mismatch(read, word);
    }
  }
  reads_.clear();
  words_used_ = 0;
  return "";
}

std::string StreamCheck::describe_mismatch(const Read& read, std::uint64_t word) const {
  const std::uint32_t found = words_[read.at + word];
  std::string whose = "not a mark of this pass";
  if (const std::uint32_t index = found - first_mark_; index < owners_.size()) {
    const Use& other = owners_[index];
    whose = fmt::format("the mark of block {} (allocated {})", other.block,
                        describe(other.allocated, "in the start set", "at the end"));
  }
  return fmt::format(
      "memory was handed out while another user could still write to it: block {} at {:#x} "
      "(allocated {}, freed {}) should hold {:#x} at offset {}, but holds {:#x}, {}.",
      read.use.block, read.address.value,
      describe(read.use.allocated, "in the start set", "at the end"),
      describe(read.freed, "before the events", "at the end of the pass"), read.mark,
      read.plan.offset_of(word).count, found, whose);
}

}  // namespace ferry::replay
