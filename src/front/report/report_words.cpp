// SPDX-License-Identifier: Apache-2.0
#include "front/report/report_words.hpp"

#include <fmt/format.h>

#include <algorithm>
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

constexpr std::string_view kAboutSmallestCapacity =
    " The smallest capacity was found by trying, to 2 MiB. It can be a little more than what Ferry "
    "held without a limit, as the size of its chunks follows the memory there is.";

bool searched_capacity(const ReplayReport& report) {
  const auto searched = [](const DeviceResult& device) { return device.min_capacity.has_value(); };
  return std::any_of(report.files.begin(), report.files.end(), [&](const FileResult& file) {
    return std::any_of(file.devices.begin(), file.devices.end(), searched);
  });
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
  std::string text;
  if (!report.driver.empty()) text = fmt::format("Driver: {}", report.driver);
  if (!report.schedule.empty()) {
    text += fmt::format(", schedule {}", report.schedule);
    // Only the random schedule depends on it.
    if (report.schedule == "random") text += fmt::format(", seed {}", report.seed);
  }
  return text + fmt::format("{}Cost table: {}.", text.empty() ? "" : ". ", report.costs);
}

std::string explanation(const ReplayReport& report) {
  std::string text =
      fmt::format("The milliseconds of driver calls are modelled with the table {}, not measured",
                  report.costs);
  const CostTable* table = find_cost_table(report.costs);
  if (table != nullptr && !table->unpriced().empty()) {
    text += fmt::format("; it counts as free: {}", fmt::join(table->unpriced(), ", "));
  }
  text += ". Calls that the driver refused are counted and priced like others.";
  if (searched_capacity(report)) text += kAboutSmallestCapacity;
  return text;
}

}  // namespace ferry::replay
