// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/shared_event.hpp"

#include <atomic>
#include <utility>

namespace ferry::sim {

struct SharedEvent::State {
  std::uint64_t recorded;
  std::uint64_t asked;
  std::uint64_t reached[kRemembered];  // the newest record that was, by its number's remainder
};

namespace {

using Word = std::atomic_ref<std::uint64_t>;

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

std::uint64_t SharedEvent::record() {
  return Word(state().recorded).fetch_add(1, std::memory_order_acq_rel) + 1;
}

std::uint64_t SharedEvent::latest() const {
  return Word(state().recorded).load(std::memory_order_acquire);
}

void SharedEvent::reach(std::uint64_t record) {
  raise(Word(state().reached[record % kRemembered]), record);
}

bool SharedEvent::is_reached(std::uint64_t record) const {
  return Word(state().reached[record % kRemembered]).load(std::memory_order_acquire) >= record;
}

void SharedEvent::ask(std::uint64_t record) {
  raise(Word(state().asked), record);
}

bool SharedEvent::is_asked_for(std::uint64_t record) const {
  return Word(state().asked).load(std::memory_order_acquire) >= record;
}

}  // namespace ferry::sim
