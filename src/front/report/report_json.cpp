// SPDX-License-Identifier: Apache-2.0
#include "front/report/report_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "front/report/report_words.hpp"
#include "front/traces/trace.hpp"

namespace ferry::replay {

namespace {

using Json = nlohmann::ordered_json;

Json bytes_or_null(const std::optional<Bytes>& bytes) {
  return bytes ? Json(bytes->count) : Json(nullptr);
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json to_json(const PassResult& pass) {
  Json calls = Json::object();
  for (std::size_t i = 0; i < kDriverCallKinds; ++i) {
    const auto call = static_cast<DriverCall>(i);
    calls[std::string(name_of(call))] = pass.calls[call].calls;
  }
  return {{"driver_calls", std::move(calls)},
          {"event_calls", pass.calls.event_calls},
          {"driver_ms", pass.driver_ms},
          {"peak_reserved_bytes", pass.peak_reserved.count}};
}

// The figures that a file and each of its devices have alike.
void add_figures(Json& json, const DeviceResult& device) {
  json["events"] = device.events;
  json["peak_live_bytes"] = device.peak_live.count;
  json["recorded_peak_reserved_bytes"] = bytes_or_null(device.recorded_peak_reserved);
  json["peak_reserved_bytes"] = device.peak_reserved.count;
  json["min_capacity_bytes"] = bytes_or_null(device.min_capacity);
  json["completed"] = device.completed;
  json["error"] = text_or_null(device.error);
  json["passes"] = Json::array();
  for (const PassResult& pass : device.passes) json["passes"].push_back(to_json(pass));
  json["pair_ns"] = {{"p50", device.pair_ns_p50}, {"p99", device.pair_ns_p99}};
  json["capacity_bytes"] = bytes_or_null(device.capacity);
  json["unlimited_peak_reserved_bytes"] = bytes_or_null(device.unlimited_peak_reserved);
}

// Why a file did not complete: all of its devices have to.
std::string error_of(const FileResult& file) {
  if (!file.error.empty()) return file.error;
  const auto failed = std::find_if(file.devices.begin(), file.devices.end(),
                                   [](const DeviceResult& device) { return !device.completed; });
  if (failed == file.devices.end()) return "";
  if (file.devices.size() == 1) return failed->error;
  return fmt::format("{}: {}", device_name(failed->device), failed->error);
}

Json to_json(const FileResult& file) {
  Json json{{"name", file.name}};
  const bool has_worst = file.worst_device < file.devices.size();
  add_figures(json, has_worst ? file.devices[file.worst_device] : DeviceResult{});
  json["completed"] = has_worst && std::all_of(file.devices.begin(), file.devices.end(),
                                               [](const DeviceResult& d) { return d.completed; });
  json["error"] = text_or_null(error_of(file));
  json["devices"] = Json::array();
  for (const DeviceResult& device : file.devices) {
    Json entry{{"device", device.device}};
    add_figures(entry, device);
    json["devices"].push_back(std::move(entry));
  }
  json["path"] = file.path;
  json["format"] = text_or_null(file.format);
  json["notes"] = file.notes;
  return json;
}

}  // namespace

std::string render_json(const ReplayReport& report) {
  Json json{{"costs", report.costs},
            {"driver", text_or_null(report.driver)},
            {"schedule", text_or_null(report.schedule)},
            {"seed", report.seed},
            {"error", text_or_null(report.error)},
            {"files", Json::array()}};
  for (const FileResult& file : report.files) json["files"].push_back(to_json(file));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ferry::replay
