// SPDX-License-Identifier: Apache-2.0
#include "front/traces/snapshot_fields.hpp"

#include <fmt/format.h>

#include <utility>

namespace ferry::replay {

std::string SnapshotPlace::describe() const {
  switch (kind) {
    case Kind::top:
      return "the snapshot";
    case Kind::segment:
      return fmt::format("segment {}", outer);
    case Kind::block:
      return fmt::format("segment {}, block {}", outer, inner);
    case Kind::entry:
      return fmt::format("device {}, entry {}", outer, inner);
  }
  return {};
}

bool SnapshotFields::fail_plainly(std::string message, std::uint64_t offset) {
  if (!error_) error_ = TraceError{std::move(message), offset};
  return false;
}

bool SnapshotFields::fail(SnapshotPlace place, std::string_view what) {
  return fail_plainly(fmt::format("is no valid snapshot: {}: {}", place.describe(), what),
                      place.offset);
}

bool SnapshotFields::visit(std::uint64_t values) {
  if (values > visits_left_) {
    return fail_plainly("is no valid snapshot: it refers to the same values over and over", 0);
  }
  visits_left_ -= values;
  return true;
}

bool SnapshotFields::collect(PickleValue dict, SnapshotPlace place,
                             std::span<SnapshotField> wanted) {
  if (document_.kind(dict) != PickleKind::dict) {
    return fail(place, fmt::format("it is {}, not a dict", kind_phrase(document_.kind(dict))));
  }
  if (!visit(document_.size(dict))) return false;
  for (SnapshotField& field : wanted) field.value = {};
  PickleItems items = document_.items(dict);
  while (const auto key = items.next()) {
    const auto value = items.next();
    if (!value || document_.kind(*key) != PickleKind::text) continue;
    const std::string_view name = document_.text(*key);
    for (SnapshotField& field : wanted) {
      if (field.name == name) field.value = *value;
    }
  }
  return true;
}

bool SnapshotFields::number(const SnapshotField& field, SnapshotPlace place, std::uint64_t largest,
                            std::uint64_t& out) {
  if (field.value.empty()) return fail(place, fmt::format("'{}' is missing", field.name));
  const PickleKind kind = document_.kind(field.value);
  if (kind != PickleKind::integer) {
    return fail(place,
                fmt::format("'{}' is {}, not a whole number", field.name, kind_phrase(kind)));
  }
  const PickleInteger value = document_.integer(field.value);
  if (value.negative && (value.magnitude != 0 || value.beyond_64_bits)) {
    return fail(place, fmt::format("'{}' is negative", field.name));
  }
  if (value.beyond_64_bits || value.magnitude > largest) {
    return fail(place, fmt::format("'{}' is larger than {}", field.name, largest));
  }
  out = value.magnitude;
  return true;
}

bool SnapshotFields::optional_number(const SnapshotField& field, SnapshotPlace place,
                                     std::uint64_t largest, std::uint64_t& out) {
  return field.value.empty() || number(field, place, largest, out);
}

bool SnapshotFields::text(const SnapshotField& field, SnapshotPlace place, std::string_view& out) {
  if (field.value.empty()) return fail(place, fmt::format("'{}' is missing", field.name));
  const PickleKind kind = document_.kind(field.value);
  if (kind != PickleKind::text) {
    return fail(place, fmt::format("'{}' is {}, not a text", field.name, kind_phrase(kind)));
  }
  out = document_.text(field.value);
  return true;
}

bool SnapshotFields::optional_list(const SnapshotField& field, SnapshotPlace place,
                                   PickleValue& out) {
  out = {};
  if (field.value.empty() || document_.kind(field.value) == PickleKind::none) return true;
  const PickleKind kind = document_.kind(field.value);
  if (kind != PickleKind::list && kind != PickleKind::tuple) {
    return fail(place, fmt::format("'{}' is {}, not a list", field.name, kind_phrase(kind)));
  }
  out = field.value;
  return true;
}

}  // namespace ferry::replay
