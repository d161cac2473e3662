// SPDX-License-Identifier: Apache-2.0
// Proves that no block is handed out while an earlier user may still write to it. After each
// allocation a write of marks is queued, before each free a read of the same words, both on the
// block's stream, as a program's own work would be; the words are compared when the work has run.
// The host also checks that live blocks never overlap.
//
// Where memory changes hands between streams, the check drives the order that would show a missing
// fence: the new user's marks are made to run at once, and the earlier user's queued work only
// later, before the marks are read. A fence that is there makes both harmless.
//
// Works through a Device of its own, so that nothing of this counts as the allocator's. Functions
// that return std::string answer "", or what went wrong, for people.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "driver/device.hpp"
#include "front/replay/last_users.hpp"

namespace ferry::replay {

// Where the marks of a block lie: `rows` words from the block's start, `pitch` apart, and a word at
// `last` unless that is one of them.
struct MarkPlan {
  Bytes pitch;
  std::uint64_t rows = 0;
  Bytes last;
  bool extra_last = false;

  [[nodiscard]] std::uint64_t words() const { return rows + (extra_last ? 1 : 0); }
  [[nodiscard]] Bytes offset_of(std::uint64_t word) const {
    return word < rows ? pitch * word : last;
  }
};

inline constexpr std::uint64_t kMostMarks = 64;

// The first word, the last, and one in every 2 MiB between; thinner in blocks that would need more
// than kMostMarks. None in blocks under 4 bytes.
[[nodiscard]] MarkPlan plan_marks(Bytes size);

class StreamCheck {
 public:
  // When something happened, for the messages; kBefore and kAfter are outside of the events.
  using Moment = std::uint64_t;
  static constexpr Moment kBefore = ~std::uint64_t{0};
  static constexpr Moment kAfter = kBefore - 1;

  struct Options {
    bool several_streams = false;  // the trace has more than one
    bool marks = true;             // false: only overlaps are looked for
  };

  // Requires: `device` outlives the check.
  [[nodiscard]] static Result<std::unique_ptr<StreamCheck>> open(Device& device,
                                                                 const Options& options);
  ~StreamCheck();
  StreamCheck(const StreamCheck&) = delete;
  StreamCheck& operator=(const StreamCheck&) = delete;

  // Call after an allocation that succeeded.
  [[nodiscard]] std::string allocated(std::uint32_t block, DeviceAddress address, Bytes size,
                                      StreamRef stream, Moment when);
  // Call before `stream` frees a block at this address. Work of the block's own stream is ordered
  // before: the program that is replayed had to do that too.
  [[nodiscard]] std::string freeing(DeviceAddress address, StreamRef stream, Moment when);
  // Waits for everything queued and compares what is left. Call at the end of a pass.
  [[nodiscard]] std::string finish();

 private:
  struct Use {
    std::uint32_t block = 0;
    Moment allocated = kBefore;
  };
  struct Live {
    Use use;
    Bytes size;
    StreamRef stream;
    std::uint32_t mark = 0;
    std::vector<StreamRef> earlier_users{};  // other streams that had some of this memory
  };
  struct Read {  // queued; to be compared
    Use use;
    Moment freed = kAfter;
    std::uint32_t mark = 0;
    DeviceAddress address;
    MarkPlan plan;
    std::size_t at = 0;  // index of its first word in words_
  };

  StreamCheck(Device& device, const Options& options) : device_(device), options_(options) {}
  [[nodiscard]] std::string overlap(const Use& use, DeviceAddress address, Bytes size) const;
  [[nodiscard]] Status queue_write(DeviceAddress address, const Live& live);
  [[nodiscard]] Status queue_read(DeviceAddress address, const Live& live, StreamRef stream,
                                  Moment when);
  [[nodiscard]] std::string compare();
  [[nodiscard]] std::string describe_mismatch(const Read& read, std::uint64_t word) const;

  Device& device_;
  const Options options_;
  EventHandle event_;               // orders a block's stream before a free on another
  std::uint32_t* words_ = nullptr;  // pinned; where reads arrive
  std::size_t words_used_ = 0;
  std::vector<Read> reads_;
  std::map<std::uint64_t, Live> live_;  // by address; no blocks of 0 bytes
  LastUsers last_users_;
  std::vector<Use>
      owners_;  // by mark, from first_mark_ on: whose mark is found where it should not
  std::uint32_t first_mark_ = 1;
};

}  // namespace ferry::replay
