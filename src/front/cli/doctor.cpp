// SPDX-License-Identifier: Apache-2.0
#include "front/cli/doctor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "ferry/sim.h"
#include "front/cli/cli.hpp"
#include "front/cli/doctor_checks.hpp"
#include "front/replay/stand_in_settings.hpp"
#include "front/traces/messages.hpp"
#include "front/version.hpp"

namespace ferry::cli {

namespace {

struct DeviceReport {
  DeviceInfo info;
  std::vector<Finding> findings;  // the first says whether the device could be opened

  [[nodiscard]] bool usable() const {
    return std::ranges::all_of(findings, [](const Finding& f) { return f.ok || !f.needed; });
  }
};

struct Report {
  const Driver* driver = nullptr;  // null: none could be loaded
  std::vector<Finding> findings;   // about the driver and the stand-in
  std::vector<DeviceReport> devices;

  [[nodiscard]] bool usable() const {
    return std::ranges::any_of(devices, [](const DeviceReport& d) { return d.usable(); });
  }
};

Finding describe_driver(const Driver& driver) {
  std::string detail = fmt::format("{}, version {} ({})", driver.library_path(),
                                   format_cuda_version(driver.version()), driver.reason());
  if (driver.is_stand_in()) detail += "; not a GPU: host memory and modelled time";
  return {.subject = "driver", .ok = true, .detail = std::move(detail)};
}

constexpr std::string_view kTryStandIn =
    "Without a GPU, try ferry doctor --device sim: the stand-in needs none.";

// The last sentence of a driver's failure says what to do.
Finding describe_failure(const DriverChoice& choice, const std::string& message) {
  Finding finding{.subject = "driver", .detail = message};
  if (const std::size_t end = message.rfind(". "); end != std::string::npos) {
    finding.detail = message.substr(0, end + 1);
    finding.remedy = message.substr(end + 2);
  }
  if (choice.kind != DriverChoice::Kind::sim) {
    finding.remedy += fmt::format("{}{}", finding.remedy.empty() ? "" : " ", kTryStandIn);
  }
  return finding;
}

Finding describe_functions(const Driver& driver) {
  Finding finding{.subject = "functions", .ok = true, .needed = false, .detail = "all found"};
  if (!driver.missing_optional().empty()) {
    finding.ok = false;
    finding.detail =
        fmt::format("not in this driver: {}", fmt::join(driver.missing_optional(), ", "));
    finding.remedy = "A newer driver makes Ferry faster; without these it takes another way.";
  }
  return finding;
}

Finding describe_stand_in() {
  const std::string folder = stand_in_folder();
  if (!folder.empty()) {
    return {.subject = "stand-in", .ok = true, .needed = false, .detail = folder};
  }
  return {.subject = "stand-in",
          .needed = false,
          .detail = "not found",
          .remedy = "To run without a GPU, install it, or set FERRY_SIM_DIR to its folder."};
}

DeviceReport examine(const Driver& driver, DeviceId id) {
  DeviceReport report;
  report.info.id = id;
  Finding opened{.subject = fmt::format("device {}", id.ordinal)};
  Result<DeviceInfo> info = driver.device_info(id);
  if (info) report.info = *info;
  Result<std::unique_ptr<Device>> device =
      info ? Device::open(driver, id) : Result<std::unique_ptr<Device>>(info.error());
  Result<MemoryInfo> memory =
      device ? (*device)->memory_info() : Result<MemoryInfo>(device.error());
  if (!memory) {
    opened.detail = fmt::format("{} {}", report.info.name, memory.error().describe());
    opened.remedy = memory.error().code() == Code::not_supported
                        ? "Ferry needs a device with virtual memory management."
                        : "End the programs that hold the device, and check it with nvidia-smi.";
    report.findings.push_back(std::move(opened));
    return report;
  }
  opened.ok = true;
  opened.detail = fmt::format("{}, compute capability {}.{}, {} of {} free", report.info.name,
                              report.info.compute_major, report.info.compute_minor,
                              format_bytes(memory->free), format_bytes(memory->total));
  report.findings = check_device(**device);
  report.findings.insert(report.findings.begin(), std::move(opened));
  return report;
}

// What is written is read back, so a stand-in that is set to forget it is set to hold it.
void hold_data(const Driver& driver) {
  const auto reset = reinterpret_cast<ferry_sim_reset_fn>(driver.find_symbol(FERRY_SIM_RESET));
  const char* const settings = std::getenv("FERRY_SIM");
  if (reset == nullptr || settings == nullptr) return;
  static_cast<void>(reset(replay::with_setting(settings, "data", "real").c_str()));
}

Report examine_all(const DriverChoice& choice) {
  Report report;
  const Result<const Driver*, StartError> driver = start_driver(choice);
  if (driver) {
    report.driver = *driver;
    hold_data(*report.driver);
    report.findings.push_back(describe_driver(*report.driver));
    report.findings.push_back(describe_functions(*report.driver));
    const Result<int> count = report.driver->device_count();
    for (int i = 0; count && i < *count; ++i) {
      report.devices.push_back(examine(*report.driver, DeviceId{i}));
    }
    if (!count) {
      report.findings.push_back(
          {.subject = "devices",
           .detail = "they could not be counted: " + count.error().describe(),
           .remedy = "Check the driver with nvidia-smi. " + std::string(kTryStandIn)});
    } else if (report.devices.empty()) {
      report.findings.push_back(
          {.subject = "devices",
           .detail = "the driver has none",
           .remedy = "Check nvidia-smi and CUDA_VISIBLE_DEVICES. " + std::string(kTryStandIn)});
    }
  } else {
    report.findings.push_back(describe_failure(choice, driver.error().message));
  }
  report.findings.push_back(describe_stand_in());
  return report;
}

void print(const Finding& finding) {
  fmt::print("{:<8} {:<15} {}\n", finding.ok ? "ok" : "missing", finding.subject,
             replay::printable(finding.detail));
  if (!finding.remedy.empty()) fmt::print("{:<24} {}\n", "", finding.remedy);
}

void print_text(const Report& report) {
  fmt::print("ferry {}\n\n", version_text());
  for (const Finding& finding : report.findings) print(finding);
  for (const DeviceReport& device : report.devices) {
    fmt::print("\n");
    for (const Finding& finding : device.findings) print(finding);
  }
  fmt::print("\n{}\n", report.usable() ? "Ferry can be used on this machine."
                                       : "Ferry cannot be used on this machine as it is.");
}

nlohmann::ordered_json to_json(const std::vector<Finding>& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& f : findings) {
    list.push_back({{"subject", f.subject},
                    {"ok", f.ok},
                    {"needed", f.needed},
                    {"detail", f.detail},
                    {"remedy", f.remedy}});
  }
  return list;
}

// Names of files may hold bytes that are not UTF-8.
std::string to_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void print_json(const Report& report) {
  nlohmann::ordered_json json{
      {"ferry", version_text()}, {"usable", report.usable()}, {"error", nullptr}};
  json["driver"] = nullptr;
  if (report.driver != nullptr) {
    json["driver"] = {{"path", report.driver->library_path()},
                      {"version", format_cuda_version(report.driver->version())},
                      {"reason", report.driver->reason()},
                      {"stand_in", report.driver->is_stand_in()},
                      {"missing_functions", report.driver->missing_optional()}};
  }
  json["stand_in_folder"] = stand_in_folder();
  json["findings"] = to_json(report.findings);
  json["devices"] = nlohmann::ordered_json::array();
  for (const DeviceReport& device : report.devices) {
    json["devices"].push_back({{"ordinal", device.info.id.ordinal},
                               {"name", device.info.name},
                               {"total_bytes", device.info.total_memory.count},
                               {"usable", device.usable()},
                               {"findings", to_json(device.findings)}});
  }
  fmt::print("{}", to_text(json));
}

}  // namespace

std::string doctor_error_json(const std::string& error) {
  const nlohmann::ordered_json json{{"ferry", version_text()}, {"usable", false}, {"error", error}};
  return to_text(json);
}

void add_doctor_command(CLI::App& app, const WordsAfterDashes&, int& exit_code) {
  struct Options {
    std::string device;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* const command =
      app.add_subcommand("doctor", "Say what works on this machine, and what to do about the rest");
  add_device_option(*command, options->device);
  command->add_flag("--json", options->json, "Print JSON for programs");
  command->footer("Exit code 0: Ferry can be used with this driver. 1: it cannot.");
  command->callback([options, &exit_code] {
    const Result<DriverChoice, std::string> choice = driver_choice(options->device);
    if (!choice) {
      exit_code = fail(kExitUsage, choice.error());
      if (options->json) fmt::print("{}", doctor_error_json(choice.error()));
      return;
    }
    const Report report = examine_all(choice.value());
    options->json ? print_json(report) : print_text(report);
    exit_code = report.usable() ? kExitOk : kExitFailure;
  });
}

}  // namespace ferry::cli
