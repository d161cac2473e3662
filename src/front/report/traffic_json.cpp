// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "front/report/traffic_report.hpp"

namespace ferry::replay {

namespace {

using Json = nlohmann::ordered_json;
using traffic::Amount;

Json per_parameter(Bytes bytes, std::uint64_t parameters) {
  if (parameters == 0) return nullptr;
  return static_cast<double>(bytes.count) / static_cast<double>(parameters);
}

std::string_view name_of(traffic::Way way) {
  return traffic::kWayNames[static_cast<std::size_t>(way)];
}

Json amount_json(traffic::Way way, const Amount& amount, std::uint64_t parameters) {
  return {{"direction", name_of(way)},
          {"bytes", amount.bytes.count},
          {"bytes_per_parameter", per_parameter(amount.bytes, parameters)},
          {"calls", amount.calls},
          {"small_calls", amount.small_calls},
          {"pageable_bytes", amount.pageable_bytes.count},
          {"pageable_calls", amount.pageable_calls},
          {"blocking_calls", amount.blocking_calls}};
}

Json caller_json(const traffic::Caller& caller) {
  return {{"operator", caller.operation}, {"place", caller.place}};
}

Json phase_json(const traffic::PhaseAccount& phase, std::uint64_t parameters) {
  Json json = {{"phase", phase.name}, {"waits", phase.waits}};
  json["copies"] = Json::array();
  for (std::size_t way = 0; way < traffic::kWays; ++way) {
    if (phase.ways[way].calls > 0)
      json["copies"].push_back(
          amount_json(static_cast<traffic::Way>(way), phase.ways[way], parameters));
  }
  json["callers"] = Json::array();
  for (const traffic::CallerAmount& caller : phase.callers) {
    Json row = caller_json(caller.caller);
    row.update(amount_json(caller.way, caller.amount, parameters));
    json["callers"].push_back(std::move(row));
  }
  json["waiters"] = Json::array();
  for (const traffic::WaitAmount& wait : phase.wait_callers) {
    Json row = caller_json(wait.caller);
    row["call"] = wait.call;
    row["calls"] = wait.calls;
    json["waiters"].push_back(std::move(row));
  }
  return json;
}

Json step_json(const traffic::StepAccount& step, std::uint64_t parameters) {
  Json json = {{"step", step.step}, {"micro_steps", step.micro_steps}};
  json["phases"] = Json::array();
  for (const traffic::PhaseAccount& phase : step.phases)
    json["phases"].push_back(phase_json(phase, parameters));
  return json;
}

Json repeated_json(const traffic::Repeated& route) {
  Json json = {{"contents", route.contents},
               {"moved_bytes", route.moved.count},
               {"needed_bytes", route.needed.count}};
  json["copies"] = Json::array();
  for (const traffic::Stop& stop : route.stops) {
    Json copy = {
        {"phase", stop.phase}, {"direction", name_of(stop.way)}, {"widened", stop.widened}};
    copy.update(caller_json(stop.caller));
    json["copies"].push_back(std::move(copy));
  }
  return json;
}

Json findings_json(const traffic::Findings& findings) {
  Json json;
  json["contents_known"] = findings.has_contents;
  json["repeated"] = Json::array();
  for (const traffic::Repeated& route : findings.repeated)
    json["repeated"].push_back(repeated_json(route));
  json["widened"] = Json::array();
  for (const traffic::Widened& wide : findings.widened) {
    Json row = {{"phase", wide.phase},
                {"direction", name_of(wide.way)},
                {"copies", wide.copies},
                {"moved_bytes", wide.moved.count},
                {"needed_bytes", wide.moved.count / 2}};
    row.update(caller_json(wide.caller));
    json["widened"].push_back(std::move(row));
  }
  json["each_micro_step"] = nullptr;
  for (const traffic::Accumulated& sum : findings.accumulated) {
    json["each_micro_step"] = {{"micro_steps", sum.micro_steps},
                               {"moved_bytes", sum.moved.count},
                               {"needed_bytes", sum.needed.count}};
  }
  return json;
}

Json process_json(const ProcessTraffic& process) {
  Json json = {
      {"process", process.process},
      {"complete", process.records.complete},
      {"parameters", process.parameters > 0 ? Json(process.parameters) : Json(nullptr)},
      {"typical_step", process.step().step},
  };
  json["steps"] = Json::array();
  for (const traffic::StepAccount& step : process.steps)
    json["steps"].push_back(step_json(step, process.parameters));
  json["findings"] = findings_json(process.findings);
  return json;
}

}  // namespace

std::string traffic_json(const TrafficReport& report) {
  Json json = {{"program", report.program},
               {"gpu", report.gpu.empty() ? Json(nullptr) : Json(report.gpu)},
               {"values", report.with_values ? "cpu" : "off"}};
  json["processes"] = Json::array();
  for (const ProcessTraffic& process : report.processes)
    json["processes"].push_back(process_json(process));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ferry::replay
