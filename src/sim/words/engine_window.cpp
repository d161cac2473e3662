// SPDX-License-Identifier: Apache-2.0
#include "sim/words/engine_window.hpp"

#include <fmt/format.h>

namespace ferry::sim {

namespace {

constexpr std::uint64_t kLargestFactor = 1'000'000;

Problem read_engine(EngineWindow& window, std::string_view name) {
  if (const std::optional<Halves> halves = split(name, '/')) {
    window.device = parse_number<int>(halves->before);
    if (!window.device || *window.device < 0) return "the number of a device before the /";
    name = halves->after;
  }
  if (name == "to_device") {
    window.engine = EngineKind::to_device;
  } else if (name == "to_host") {
    window.engine = EngineKind::to_host;
  } else if (name == "peer") {
    window.engine = EngineKind::peer;
  } else if (name == "compute") {
    window.engine = EngineKind::compute;
  } else {
    return "an engine: to_device, to_host, peer or compute";
  }
  return std::nullopt;
}

Problem read_span(EngineWindow& window, std::string_view text) {
  const std::optional<Halves> span = split(text, '-');
  const auto from = span ? parse_moment(span->before) : std::nullopt;
  const auto until = span ? parse_moment(span->after) : std::nullopt;
  if (!from || !until || *from >= *until)
    return "two moments of virtual time after the @, such as 10us-2ms";
  window.from = *from;
  window.until = *until;
  return std::nullopt;
}

}  // namespace

Problem read_slow(std::vector<EngineWindow>& windows, std::string_view value) {
  EngineWindow window;
  const std::optional<Halves> halves = split(value, '@');
  const std::optional<Halves> front = halves ? split(halves->before, ':') : std::nullopt;
  if (!front) return "ENGINE:FACTOR@FROM-UNTIL, such as to_device:4@10us-2ms";
  if (Problem expected = read_engine(window, front->before)) return expected;
  const auto factor = parse_number<std::uint64_t>(front->after);
  if (!factor || *factor < 2 || *factor > kLargestFactor)
    return fmt::format("a factor from 2 to {} after the :", kLargestFactor);
  window.slowdown = *factor;
  if (Problem expected = read_span(window, halves->after)) return expected;
  windows.push_back(window);
  return std::nullopt;
}

Problem read_stuck(std::vector<EngineWindow>& windows, std::string_view value) {
  EngineWindow window;
  window.slowdown = 0;
  const std::optional<Halves> halves = split(value, '@');
  if (!halves) return "ENGINE@FROM-UNTIL, such as to_device@10us-2ms";
  if (Problem expected = read_engine(window, halves->before)) return expected;
  if (Problem expected = read_span(window, halves->after)) return expected;
  windows.push_back(window);
  return std::nullopt;
}

}  // namespace ferry::sim
