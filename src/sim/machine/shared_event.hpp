// SPDX-License-Identifier: Apache-2.0
// An event that several processes record and wait for: how often it was recorded, which of these
// records have been reached, and up to which one somebody waits. In a sealed file; records are
// counted from 1. Owned by the table of events; requires no lock.
//
// The work before a record belongs to the process that recorded it, and runs there. Under `lazy`
// and `random` it runs when that process needs it, or when another one waits and says so: see
// ForeignWaits. What has not run when that process ends is dropped, as a device may drop it; its
// records are over then, so that nobody waits for ever. A lock on the file tells, which the system
// takes back however a process ends.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/memory/sealed_file.hpp"

namespace ferry::sim {

// Where others find the file of an event: which process has it open, by which descriptor.
struct EventOrigin {
  std::int32_t process = 0;
  std::int32_t descriptor = -1;
};

class SharedEvent {
 public:
  // So many records after one that nobody has reached yet, that one counts as reached when the
  // latest is.
  static constexpr std::uint64_t kRemembered = 4096;

  // The same for what records say that they come after.
  static constexpr std::uint64_t kLinks = 4096;

  // Null when the system has no more files or memory.
  [[nodiscard]] static std::shared_ptr<SharedEvent> create();
  // Null for a file of another size.
  [[nodiscard]] static std::shared_ptr<SharedEvent> open(std::shared_ptr<SealedFile> file,
                                                         EventOrigin origin = {});
  [[nodiscard]] const EventOrigin& origin() const { return origin_; }

  [[nodiscard]] const SealedFile& file() const { return *file_; }

  struct Record {
    std::uint64_t number = 0;    // 0 before the first
    std::uint64_t recorder = 0;  // whose it is, by the order in which they first recorded
  };

  [[nodiscard]] std::uint64_t record();  // the number of the new one
  [[nodiscard]] Record latest() const;
  void reach(std::uint64_t record);
  [[nodiscard]] bool is_reached(std::uint64_t record) const;
  // Reached, or nobody is left who could reach it.
  [[nodiscard]] bool is_over(const Record& record) const;
  // Somebody waits.
  void ask(std::uint64_t record);
  [[nodiscard]] bool is_asked_for(std::uint64_t record) const;

  // The host of some process has seen the record complete.
  void see(std::uint64_t record);
  [[nodiscard]] bool is_seen(std::uint64_t record) const;
  // Another value when something was seen since.
  [[nodiscard]] std::uint64_t sights() const;

  // A record of another event.
  struct Link {
    std::uint64_t number = 0;
    EventOrigin origin;
    FileId file;
  };
  // A record comes after what is said here before it is queued.
  void link(std::uint64_t record, const Link& earlier);
  [[nodiscard]] std::vector<Link> links_of(std::uint64_t record) const;

  // For a child of fork, which must not stand in for its parent.
  void leave() { file_->leave(); }

 private:
  struct State;

  SharedEvent(std::shared_ptr<SealedFile> file, MappedPart part, EventOrigin origin);
  [[nodiscard]] State& state() const;
  void become_recorder();

  std::shared_ptr<SealedFile> file_;
  MappedPart part_;
  EventOrigin origin_;
  std::uint64_t recorder_ = 0;  // here; 0 before the first record, and where the system refuses
};

}  // namespace ferry::sim
