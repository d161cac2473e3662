// SPDX-License-Identifier: Apache-2.0
// Typed access to the dicts of a memory snapshot. Whatever is missing or of the wrong type becomes
// one sentence that names the key and the place in the snapshot. Also keeps count of what is
// visited: a pickle may refer to one list many times, and reading must stay linear in the size of
// the file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "front/traces/pickle/pickle_document.hpp"
#include "front/traces/trace.hpp"

namespace ferry::replay {

// "segment 3, block 5", "device 0, entry 17": made into words only when something is wrong.
struct SnapshotPlace {
  enum class Kind : std::uint8_t { top, segment, block, entry };
  Kind kind = Kind::top;
  std::uint64_t outer = 0;
  std::uint64_t inner = 0;
  std::uint64_t offset = 0;
  [[nodiscard]] std::string describe() const;
};

// One wanted key of a dict, and what was found under it. Of a repeated key the last counts, as in
// Python.
struct SnapshotField {
  std::string_view name;
  PickleValue value;  // empty when the key is missing
};

class SnapshotFields {
 public:
  // Visits at most `visits` values.
  SnapshotFields(const PickleDocument& document, std::uint64_t visits)
      : document_(document), visits_left_(visits) {}

  // All of these return false after `fail`.
  bool collect(PickleValue dict, SnapshotPlace place, std::span<SnapshotField> wanted);
  bool number(const SnapshotField& field, SnapshotPlace place, std::uint64_t largest,
              std::uint64_t& out);
  // Leaves `out` alone when the key is missing.
  bool optional_number(const SnapshotField& field, SnapshotPlace place, std::uint64_t largest,
                       std::uint64_t& out);
  bool text(const SnapshotField& field, SnapshotPlace place, std::string_view& out);
  // A list or a tuple; `out` stays empty when the key is missing or holds None.
  bool optional_list(const SnapshotField& field, SnapshotPlace place, PickleValue& out);
  bool visit(std::uint64_t values);  // must be asked before each value of a list

  bool fail(SnapshotPlace place, std::string_view what);
  bool fail_plainly(std::string message, std::uint64_t offset);
  [[nodiscard]] const std::optional<TraceError>& error() const { return error_; }
  [[nodiscard]] const PickleDocument& document() const { return document_; }

 private:
  const PickleDocument& document_;
  std::uint64_t visits_left_;
  std::optional<TraceError> error_;
};

}  // namespace ferry::replay
