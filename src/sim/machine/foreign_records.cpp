// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/foreign_records.hpp"

#include <compare>
#include <set>
#include <utility>

namespace ferry::sim {

namespace {

// Of a chain of records; one that other programs made up must end too.
constexpr std::size_t kMostSeen = 256;

using Seen = std::set<std::pair<FileId, std::uint64_t>>;

void see(SharedEvent& event, std::uint64_t number, Seen& done) {
  if (done.size() >= kMostSeen || !done.emplace(event.file().id(), number).second) return;
  event.see(number);
  for (const SharedEvent::Link& link : event.links_of(number)) {
    auto what = SealedFile::Opening::gone;
    const auto earlier =
        SharedEvent::open(SealedFile::open_of(link.origin.process, link.origin.descriptor,
                                              link.file, SharedKind::event, what),
                          link.origin);
    if (earlier != nullptr) see(*earlier, link.number, done);
  }
}

}  // namespace

void see_record(SharedEvent& event, std::uint64_t number) {
  Seen done;
  see(event, number, done);
}

void ForeignRecords::add(Wait wait) {
  if (waits_.size() >= kMostWaits) waits_.erase(waits_.begin(), waits_.begin() + kMostWaits / 2);
  waits_.push_back(std::move(wait));
}

void ForeignRecords::tell(const Clock& seen) {
  std::erase_if(waits_, [&](const Wait& wait) {
    if (!is_covered(*wait.ticket, seen)) return false;
    see_record(*wait.event, wait.number);
    return true;
  });
}

void ForeignRecords::link(SharedEvent& event, std::uint64_t number, const Clock& clock) const {
  std::size_t left = kMostLinks;
  for (auto wait = waits_.rbegin(); wait != waits_.rend() && left > 0; ++wait) {
    if (!is_covered(*wait->ticket, clock)) continue;
    event.link(number, {wait->number, wait->event->origin(), wait->event->file().id()});
    --left;
  }
}

}  // namespace ferry::sim
