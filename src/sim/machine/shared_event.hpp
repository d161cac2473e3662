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

#include "sim/memory/sealed_file.hpp"

namespace ferry::sim {

class SharedEvent {
 public:
  // So many records after one that nobody has reached yet, that one counts as reached when the
  // latest is.
  static constexpr std::uint64_t kRemembered = 4096;

  // Null when the system has no more files or memory.
  [[nodiscard]] static std::shared_ptr<SharedEvent> create();
  // Null for a file of another size.
  [[nodiscard]] static std::shared_ptr<SharedEvent> open(std::shared_ptr<SealedFile> file);

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

  // For a child of fork, which must not stand in for its parent.
  void leave() { file_->leave(); }

 private:
  struct State;

  SharedEvent(std::shared_ptr<SealedFile> file, MappedPart part);
  [[nodiscard]] State& state() const;
  void become_recorder();

  std::shared_ptr<SealedFile> file_;
  MappedPart part_;
  std::uint64_t recorder_ = 0;  // here; 0 before the first record, and where the system refuses
};

}  // namespace ferry::sim
