// SPDX-License-Identifier: Apache-2.0
#include "front/replay/timeline.hpp"

#include <algorithm>
#include <array>

namespace ferry::replay {

namespace {

constexpr std::uint64_t kBuckets = 1024;  // about the pixels of a wide picture

}  // namespace

Timeline::Timeline(std::uint64_t events) : width_(std::max<std::uint64_t>(events / kBuckets, 1)) {}

void Timeline::add(const Sample& sample) {
  const std::uint64_t index = sample.event / width_;
  if (!bucket_ || bucket_->index != index) {
    flush();
    bucket_ = Bucket{index, sample, sample, sample, sample, sample};
    return;
  }
  Bucket& bucket = *bucket_;
  if (sample.live < bucket.least_live.live) bucket.least_live = sample;
  if (sample.live > bucket.most_live.live) bucket.most_live = sample;
  if (sample.reserved > bucket.most_reserved.reserved) bucket.most_reserved = sample;
  bucket.last = sample;
}

void Timeline::mark(std::uint32_t event, std::uint64_t calls) {
  if (!marks_.empty() && marks_.back().event == event) {
    marks_.back().calls += calls;
  } else {
    marks_.push_back(CallMark{event, calls});
  }
}

void Timeline::flush() {
  if (!bucket_) return;
  std::array kept{bucket_->first, bucket_->least_live, bucket_->most_live, bucket_->most_reserved,
                  bucket_->last};
  std::stable_sort(kept.begin(), kept.end(),
                   [](const Sample& a, const Sample& b) { return a.event < b.event; });
  for (const Sample& sample : kept) {
    if (samples_.empty() || samples_.back().event != sample.event) samples_.push_back(sample);
  }
  bucket_.reset();
}

std::vector<Sample> Timeline::take_samples() {
  flush();
  return std::move(samples_);
}

}  // namespace ferry::replay
