// SPDX-License-Identifier: Apache-2.0
// A decoder for Python pickles that hold plain data: None, truth values, numbers, texts, bytes,
// lists, tuples, dicts and sets, in every protocol from 0 to 5. Whatever would make Python import,
// call or build something is refused by name; nothing is ever run. Recursion, memory and lengths
// are bounded, whatever the file says.
#pragma once

#include <string_view>

#include "front/traces/pickle/pickle_document.hpp"
#include "front/traces/trace.hpp"

namespace ferry::replay {

struct PickleLimits {
  std::uint64_t stack = std::uint64_t{1} << 24;  // values waiting to be put into a container
  std::uint64_t marks = 10'000;                  // containers begun and not finished
  std::uint64_t pops = 1'000'000;                // values dropped again
  std::uint64_t memory_per_byte = 8;             // of the pickle; real snapshots need about 2
  Bytes memory_base = 64_MiB;
  Bytes memory_ceiling = 16_GiB;
};

// Decodes the pickle at the beginning of `source`, which must outlive the document. What follows
// its end is ignored, as Python does.
[[nodiscard]] Result<PickleDocument, TraceError> decode_pickle(std::string_view source,
                                                               PickleLimits limits = {});

// Whether bytes begin as a pickle does: by the mark of protocols 2 to 5, or as the text of an older
// one.
[[nodiscard]] bool looks_like_pickle(std::string_view head);

}  // namespace ferry::replay
