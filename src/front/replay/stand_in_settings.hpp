// SPDX-License-Identifier: Apache-2.0
// The settings that the stand-in is reset with before each run: those of FERRY_SIM, with what the
// command line asks for over them. Pure; the stand-in itself reads the text in the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/status.hpp"

namespace ferry::replay {

struct StandInSettings {
  std::string text;      // in the syntax of FERRY_SIM
  std::string schedule;  // what the text comes to: for reports
  std::uint64_t seed = 0;
  bool holds_data = true;         // false: what is written is forgotten
  std::optional<Bytes> capacity;  // where `environment` sets one

  // The error is a sentence.
  [[nodiscard]] static Result<StandInSettings, std::string> from(
      std::string_view environment, const std::optional<std::string>& schedule,
      std::optional<std::uint64_t> seed);
};

// The value of a key in a text; of one that is there twice either: the stand-in refuses the text.
[[nodiscard]] std::optional<std::string_view> setting_in(std::string_view text,
                                                         std::string_view key);

// `text` with this value of the key in place of its own: a key may be given only once.
[[nodiscard]] std::string with_setting(std::string_view text, std::string_view key,
                                       std::string_view value);

}  // namespace ferry::replay
