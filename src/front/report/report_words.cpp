// SPDX-License-Identifier: Apache-2.0
#include "front/report/report_words.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "front/replay/cost_table.hpp"
#include "front/report/html_text.hpp"

namespace ferry::replay {

namespace {

std::string comparison(Bytes recorded, Bytes ferry) {
  if (recorded == ferry) return "the same";
  if (recorded > ferry) return fmt::format("{} more", precise_bytes(recorded - ferry));
  return fmt::format("{} less", precise_bytes(ferry - recorded));
}

std::string memory_sentence(const DeviceResult& device) {
  std::string text = fmt::format(
      "Ferry held at most {} for {} of live data ({})", precise_bytes(device.peak_reserved),
      precise_bytes(device.peak_live), ratio_text(device.peak_reserved, device.peak_live));
  if (device.recorded_peak_reserved) {
    const Bytes recorded = *device.recorded_peak_reserved;
    text += fmt::format("; PyTorch recorded {} ({}), {}", precise_bytes(recorded),
                        ratio_text(recorded, device.peak_live),
                        comparison(recorded, device.peak_reserved));
  }
  return text + ".";
}

std::string failure_sentence(const DeviceResult& device) {
  std::string text = "The replay did not complete: ";
  if (!device.out_of_memory) {
    text += "a check failed.";
  } else if (device.capacity) {
    text += fmt::format("out of memory with a capacity of {} ({} of peak live).",
                        precise_bytes(*device.capacity),
                        ratio_text(*device.capacity, device.peak_live));
  } else {
    text += "out of memory.";
  }
  return text + fmt::format(" Up to there Ferry held at most {}; the trace needs {} of live data.",
                            precise_bytes(device.peak_reserved), precise_bytes(device.peak_live));
}

std::string calls_text(std::uint64_t calls) {
  return calls == 0 ? "no driver call" : counted(calls, "driver call");
}

// `subject` is what the sentence begins with, "The cold pass".
std::string passes_sentence(const DeviceResult& device, std::string_view subject,
                            const std::string& costs) {
  const PassResult& cold = device.passes.front();
  const std::uint64_t cold_calls = cold.calls.total_calls();
  std::string text = fmt::format("{} made {}", subject, calls_text(cold_calls));
  if (cold_calls > 0) {
    text += fmt::format(", {:.1f} ms modelled with the cost table {}", cold.driver_ms, costs);
  }
  if (device.passes.size() > 1) {
    text += fmt::format("; the last of {} passes made {}", grouped(device.passes.size()),
                        calls_text(device.passes.back().calls.total_calls()));
  }
  return text + ".";
}

}  // namespace

std::string result_sentence(const DeviceResult& device) {
  if (!device.completed) return failure_sentence(device);
  if (device.peak_live.count == 0 && device.events == 0) return "The trace allocates nothing.";
  return memory_sentence(device);
}

std::string detail_sentences(const DeviceResult& device, const std::string& costs) {
  std::string text;
  std::string_view subject = "The cold pass";
  if (device.min_capacity && device.peak_live.count > 0) {
    text = fmt::format("The smallest capacity on which every pass completes is {} ({}). ",
                       precise_bytes(*device.min_capacity),
                       ratio_text(*device.min_capacity, device.peak_live));
    subject = "With it the cold pass";
  }
  if (!device.passes.empty()) text += passes_sentence(device, subject, costs);
  return text;
}

std::string setting_sentence(const ReplayReport& report) {
  std::string text = fmt::format("Driver: {}", report.driver);
  if (!report.schedule.empty()) {
    text += fmt::format(", schedule {}", report.schedule);
    // Only the random schedule depends on it.
    if (report.schedule.starts_with("random")) text += fmt::format(", seed {}", report.seed);
  }
  return text + fmt::format(". Cost table: {}.", report.costs);
}

std::string cost_sentence(const std::string& costs) {
  std::string text =
      fmt::format("The cost of driver calls is modelled with the table {}, not measured", costs);
  const CostTable* table = find_cost_table(costs);
  if (table != nullptr && !table->unpriced().empty()) {
    text += fmt::format("; it counts as free: {}", fmt::join(table->unpriced(), ", "));
  }
  return text + ".";
}

}  // namespace ferry::replay
