// SPDX-License-Identifier: Apache-2.0
// How much device memory a replay may have: the option `--capacity`, and the search for the
// smallest amount that is enough. Pure; the runs it asks for are the caller's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/status.hpp"

namespace ferry::replay {

struct CapacityOption {
  enum class Kind : std::uint8_t { unlimited, size, ratio, minimum };
  Kind kind = Kind::unlimited;
  Bytes size{};      // for Kind::size
  double ratio = 0;  // for Kind::ratio: of the trace's peak live

  // "24GiB" | "1.05x" | "min"; empty text is unlimited. The error is a sentence.
  [[nodiscard]] static Result<CapacityOption, std::string> parse(std::string_view text);

  // The bytes that `size` and `ratio` stand for; never 0. Requires: one of these two kinds.
  [[nodiscard]] Bytes bytes_for(Bytes peak_live) const;
};

inline constexpr Bytes kCapacityStep = 2_MiB;

// Does everything complete with so much memory? The error ends the search: a run that failed for
// another reason than memory.
using CompletesAt = std::function<Result<bool, std::string>(Bytes)>;

// The smallest multiple of kCapacityStep that is at least `peak_live` and at which everything
// completes. `enough`: what a run with unlimited memory held. The answer has been tried and has
// completed, and one step less has been tried and has not (or is below `peak_live`). Between
// these, completing need not grow steadily with the capacity, so a smaller answer may exist.
[[nodiscard]] Result<Bytes, std::string> find_min_capacity(Bytes peak_live, Bytes enough,
                                                           const CompletesAt& completes_at);

}  // namespace ferry::replay
