// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/shared_event.hpp"

#include <atomic>
#include <utility>

namespace ferry::sim {

struct SharedEvent::State {
  std::uint64_t recorded;   // the latest record's number, and whose it is in the low bits
  std::uint64_t recorders;  // so many there were
  std::uint64_t asked;
  std::uint64_t reached[kRemembered];  // the newest record that was, by its number's remainder
};

namespace {

using Word = std::atomic_ref<std::uint64_t>;

constexpr unsigned kRecorderBits = 20;
constexpr std::uint64_t kMostRecorders = (std::uint64_t{1} << kRecorderBits) - 1;

void raise(Word word, std::uint64_t value) {
  std::uint64_t known = word.load(std::memory_order_relaxed);
  while (known < value && !word.compare_exchange_weak(known, value, std::memory_order_acq_rel)) {
  }
}

}  // namespace

SharedEvent::SharedEvent(std::shared_ptr<SealedFile> file, MappedPart part)
    : file_(std::move(file)), part_(std::move(part)) {}

std::shared_ptr<SharedEvent> SharedEvent::create() {
  SharedDescription description;
  description.kind = SharedKind::event;
  description.size = sizeof(State);
  return open(SealedFile::create(description, sizeof(State)));
}

std::shared_ptr<SharedEvent> SharedEvent::open(std::shared_ptr<SealedFile> file) {
  if (!file || file->bytes() != sizeof(State)) return nullptr;
  MappedPart part = file->map(0, sizeof(State));
  if (part.data() == nullptr) return nullptr;
  return std::shared_ptr<SharedEvent>(new SharedEvent(std::move(file), std::move(part)));
}

SharedEvent::State& SharedEvent::state() const {
  return *reinterpret_cast<State*>(part_.data());
}

// Before anyone can see a record of it.
void SharedEvent::become_recorder() {
  if (recorder_ != 0) return;
  const std::uint64_t number = Word(state().recorders).fetch_add(1, std::memory_order_acq_rel) + 1;
  if (number <= kMostRecorders && file_->hold(number)) recorder_ = number;
}

// The number and whose it is become known at once: a process may end at any moment.
std::uint64_t SharedEvent::record() {
  become_recorder();
  const Word word(state().recorded);
  std::uint64_t known = word.load(std::memory_order_relaxed);
  std::uint64_t next = 0;
  do {
    next = (known >> kRecorderBits) + 1;
  } while (!word.compare_exchange_weak(known, next << kRecorderBits | recorder_,
                                       std::memory_order_acq_rel));
  return next;
}

SharedEvent::Record SharedEvent::latest() const {
  const std::uint64_t word = Word(state().recorded).load(std::memory_order_acquire);
  return {word >> kRecorderBits, word & kMostRecorders};
}

void SharedEvent::reach(std::uint64_t record) {
  raise(Word(state().reached[record % kRemembered]), record);
}

bool SharedEvent::is_reached(std::uint64_t record) const {
  return Word(state().reached[record % kRemembered]).load(std::memory_order_acquire) >= record;
}

bool SharedEvent::is_over(const Record& record) const {
  if (is_reached(record.number)) return true;
  return record.recorder != 0 && !file_->is_held(record.recorder);
}

void SharedEvent::ask(std::uint64_t record) {
  raise(Word(state().asked), record);
}

bool SharedEvent::is_asked_for(std::uint64_t record) const {
  return Word(state().asked).load(std::memory_order_acquire) >= record;
}

}  // namespace ferry::sim
