// SPDX-License-Identifier: Apache-2.0
#include "front/report/report_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "front/replay/cost_table.hpp"
#include "front/traces/trace.hpp"

namespace ferry::replay {

namespace {

using Json = nlohmann::ordered_json;

Json bytes_or_null(const std::optional<Bytes>& bytes) {
  return bytes ? Json(bytes->count) : Json(nullptr);
}

std::string to_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
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

// Why a file did not complete: all of its devices have to, and one that failed stands for it.
std::string error_of(const FileResult& file, const DeviceResult* device) {
  if (!file.error.empty() || device == nullptr || device->completed) return file.error;
  if (file.devices.size() == 1) return device->error;
  return fmt::format("{}: {}", device_name(device->device), device->error);
}

Json to_json(const FileResult& file) {
  Json json{{"name", file.name}};
  const DeviceResult* const worst =
      file.worst_device < file.devices.size() ? &file.devices[file.worst_device] : nullptr;
  json["device"] = worst != nullptr ? Json(worst->device) : Json(nullptr);
  add_figures(json, worst != nullptr ? *worst : DeviceResult{});
  json["error"] = text_or_null(error_of(file, worst));
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
            {"notes", report.notes},
            {"files", Json::array()}};
  for (const FileResult& file : report.files) json["files"].push_back(to_json(file));
  return to_text(json);
}

std::string render_cost_tables_json() {
  Json json{{"error", nullptr}, {"cost_tables", Json::array()}};
  for (const CostTable& table : cost_tables()) {
    Json calls = Json::object();
    for (std::size_t i = 0; i < kDriverCallKinds; ++i) {
      const CallPrice& price = table.prices[i];
      calls[std::string(name_of(static_cast<DriverCall>(i)))] = {
          {"us_per_call", price.per_call},
          {"us_per_mib", price.per_mib},
          {"us_per_mapping", price.per_mapping}};
    }
    json["cost_tables"].push_back({{"name", std::string(table.name)},
                                   {"description", std::string(table.description)},
                                   {"driver_calls", std::move(calls)}});
  }
  return to_text(json);
}

}  // namespace ferry::replay
