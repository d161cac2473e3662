// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/copy_notes.hpp"

#include <algorithm>
#include <span>

#include "sim/words/handles.hpp"

namespace ferry::sim {

namespace {

constexpr std::string_view kToDevice = "to_device";
constexpr std::string_view kToHost = "to_host";

bool is_on_device(const Machine& machine, const Touch& touch) {
  return machine.addresses.contains(touch.address);
}

int device_of(Machine& machine, const Touch& touch) {
  const Mapping* const mapping = machine.pages.find(touch.address);
  return mapping == nullptr ? -1 : mapping->block->device;
}

std::string_view way_of(Machine& machine, const Touch& source, const Touch& destination) {
  const bool from_device = is_on_device(machine, source);
  const bool to_device = is_on_device(machine, destination);
  if (!from_device && !to_device) return "on_host";
  if (from_device != to_device) return to_device ? kToDevice : kToHost;
  return device_of(machine, source) == device_of(machine, destination) ? "on_device"
                                                                       : "between_devices";
}

std::uint64_t bytes_read(std::span<const Touch> touches) {
  std::uint64_t bytes = 0;
  for (const Touch& touch : touches) bytes += touch.kind == AccessKind::read ? touch.bytes : 0;
  return bytes;
}

// The touches of its first member; what follows are those of the others.
std::span<const Touch> first_member(std::span<const Touch> touches) {
  const auto end = std::ranges::find_if(
      touches, [&](const Touch& touch) { return touch.member != touches.front().member; });
  return touches.first(static_cast<std::size_t>(end - touches.begin()));
}

}  // namespace

std::shared_ptr<CopyNotes> CopyNotes::take(Call& call, const Submission& submission, int device,
                                           const Ticket& ticket) {
  TrafficLog& log = Library::get().traffic();
  const std::string_view name = row_of(submission.symbol).name;
  if (!log.is_on() || submission.in_anothers_time || !name.starts_with("cuMemcpy")) return nullptr;
  Machine& machine = call.machine;
  auto notes = std::make_shared<CopyNotes>();
  std::span<const Touch> rest(submission.moves.empty() ? submission.touches : submission.moves);
  while (!rest.empty()) {
    const std::span<const Touch> touches = first_member(rest);
    rest = rest.subspan(touches.size());
    const auto source = std::ranges::find(touches, AccessKind::read, &Touch::kind);
    const auto destination = std::ranges::find(touches, AccessKind::write, &Touch::kind);
    if (source == touches.end() || destination == touches.end()) continue;
    Note note;
    std::ranges::copy_if(touches, std::back_inserter(note.host),
                         [&](const Touch& touch) { return !is_on_device(machine, touch); });
    CopyRecord record{name,
                      {submission.part_of, call.site},
                      way_of(machine, *source, *destination),
                      bytes_read(touches)};
    record.pinned = std::ranges::all_of(note.host, [&](const Touch& touch) {
      return machine.host.covers(touch.address, touch.bytes);
    });
    record.blocks = submission.wait != Wait::no;
    record.device = device;
    record.stream = value_of(submission.stream);
    record.time = ticket->time;
    note.record = log.add_copy(std::move(record));
    notes->notes_.push_back(std::move(note));
  }
  return notes;
}

void CopyNotes::before_work(const Machine& machine) {
  for (const Note& note : notes_) {
    if (note.record->way == kToDevice) look(machine, note);
  }
}

void CopyNotes::after_work(const Machine& machine, bool copied) {
  for (const Note& note : notes_) {
    if (copied && note.record->way == kToHost) look(machine, note);
    note.record->done = true;
  }
}

void CopyNotes::look(const Machine& machine, const Note& note) {
  if (!machine.physical.with_data()) return;
  std::vector<std::span<const std::byte>> parts;
  for (const Touch& touch : note.host)
    parts.emplace_back(reinterpret_cast<const std::byte*>(touch.address), touch.bytes);
  note.record->contents = contents_of(parts);
}

}  // namespace ferry::sim
