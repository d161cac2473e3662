// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/shared_event.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

namespace ferry::sim {

struct SharedEvent::State {
  std::uint64_t recorded;   // the latest record's number, and whose it is in the low bits
  std::uint64_t recorders;  // so many there were
  std::uint64_t asked;
  std::uint64_t reached[kRemembered];  // the newest record that was, by its number's remainder
  std::uint64_t seen[kRemembered];     // the same
  std::uint64_t sights;
  std::uint64_t linked;  // so many links there were
  struct {
    std::uint64_t record;  // whose; 0 while it is written
    Link earlier;
  } links[kLinks];
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

SharedEvent::SharedEvent(std::shared_ptr<SealedFile> file, MappedPart part, EventOrigin origin)
    : file_(std::move(file)), part_(std::move(part)), origin_(origin) {}

std::shared_ptr<SharedEvent> SharedEvent::create() {
  SharedDescription description;
  description.kind = SharedKind::event;
  description.size = sizeof(State);
  std::shared_ptr<SealedFile> file = SealedFile::create(description, sizeof(State));
  if (!file) return nullptr;
  const EventOrigin origin{getpid(), file->descriptor()};
  return open(std::move(file), origin);
}

std::shared_ptr<SharedEvent> SharedEvent::open(std::shared_ptr<SealedFile> file,
                                               EventOrigin origin) {
  if (!file || file->bytes() != sizeof(State)) return nullptr;
  MappedPart part = file->map(0, sizeof(State));
  if (part.data() == nullptr) return nullptr;
  return std::shared_ptr<SharedEvent>(new SharedEvent(std::move(file), std::move(part), origin));
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

void SharedEvent::see(std::uint64_t record) {
  raise(Word(state().seen[record % kRemembered]), record);
  Word(state().sights).fetch_add(1, std::memory_order_acq_rel);
}

bool SharedEvent::is_seen(std::uint64_t record) const {
  return Word(state().seen[record % kRemembered]).load(std::memory_order_acquire) == record;
}

std::uint64_t SharedEvent::sights() const {
  return Word(state().sights).load(std::memory_order_acquire);
}

void SharedEvent::link(std::uint64_t record, const Link& earlier) {
  const std::uint64_t turn = Word(state().linked).fetch_add(1, std::memory_order_acq_rel);
  auto& place = state().links[turn % kLinks];
  const Word whose(place.record);
  whose.store(0, std::memory_order_release);
  place.earlier = earlier;
  whose.store(record, std::memory_order_release);
}

std::vector<SharedEvent::Link> SharedEvent::links_of(std::uint64_t record) const {
  std::vector<Link> found;
  const std::uint64_t count =
      std::min(Word(state().linked).load(std::memory_order_acquire), kLinks);
  for (std::uint64_t i = 0; i < count; ++i) {
    auto& place = state().links[i];
    const Word whose(place.record);
    if (whose.load(std::memory_order_acquire) != record) continue;
    const Link earlier = place.earlier;
    if (whose.load(std::memory_order_acquire) == record) found.push_back(earlier);
  }
  return found;
}

}  // namespace ferry::sim
