// SPDX-License-Identifier: Apache-2.0
#include "front/traffic/traffic_records.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ferry::traffic {

namespace {

using Json = nlohmann::json;

Caller caller_of(const Json& line) {
  return {line.at("operator").get<std::string>(), line.at("place").get<std::string>()};
}

std::optional<std::int64_t> moment_or_nothing(const Json& line, const char* key) {
  const auto found = line.find(key);
  return found == line.end() ? std::nullopt : std::optional(found->get<std::int64_t>());
}

class Reader {
 public:
  Reader() { records_.moments.emplace_back(); }

  void take(const Json& line) {
    const std::string is = line.at("is").get<std::string>();
    if (is == "mark") take_mark(line);
    if (is == "copy") take_copy(line);
    if (is == "wait") {
      records_.waits.push_back(
          {line.at("call").get<std::string>(), caller_of(line), moment_of(line)});
    }
    if (is == "end") records_.complete = true;
  }

  Records finish() {
    std::ranges::stable_sort(records_.copies, {}, &Copy::moment);
    return std::move(records_);
  }

 private:
  // Marks are counted; a call names the number of those before it.
  [[nodiscard]] std::size_t moment_of(const Json& line) const {
    return std::min(line.at("mark").get<std::size_t>(), records_.moments.size() - 1);
  }

  void take_mark(const Json& line) {
    const std::string kind = line.at("kind").get<std::string>();
    const std::string name = line.at("name").get<std::string>();
    const std::uint64_t value = line.at("value").get<std::uint64_t>();
    const std::int64_t at_ps = line.at("at_ps").get<std::int64_t>();
    Moment moment = records_.moments.back();
    if (kind == "phase") {
      moment.phase = name;
      moment.step = value;
      moment.micro_step = next_micro_step_;
      records_.phases.push_back({at_ps, name, value});
    }
    if (kind == "micro_step") next_micro_step_ = value;
    if (kind == "range") moment.range = name;
    if (kind == "parameters") records_.parameters = std::max(records_.parameters, value);
    if (kind == "allocated") allocated_ = Bytes{value};
    records_.moments.push_back(std::move(moment));
    Bytes in_use;
    for (const Json& device : line.at("in_use_bytes")) in_use.count += device.get<std::uint64_t>();
    records_.memory.push_back({at_ps, in_use, allocated_});
  }

  void take_copy(const Json& line) {
    const auto way = std::ranges::find(kWayNames, line.at("way").get<std::string>());
    if (way == kWayNames.end()) return;
    Copy copy;
    copy.way = static_cast<Way>(way - kWayNames.begin());
    copy.bytes = Bytes{line.at("bytes").get<std::uint64_t>()};
    copy.pinned = line.at("pinned").get<bool>();
    copy.blocks = line.at("blocks").get<bool>();
    copy.call = line.at("call").get<std::string>();
    copy.caller = caller_of(line);
    copy.moment = moment_of(line);
    copy.begin_ps = moment_or_nothing(line, "begin_ps");
    copy.end_ps = moment_or_nothing(line, "end_ps");
    if (line.contains("digest")) {
      copy.contents = Contents{line.at("digest").get<std::string>(), line.at("zero").get<bool>(),
                               line.at("widened").get<bool>()};
    }
    records_.copies.push_back(std::move(copy));
  }

  Records records_;
  Bytes allocated_;
  std::uint64_t next_micro_step_ = 0;  // told before the phase that it begins with
};

}  // namespace

Records read_records(std::istream& text) {
  Reader reader;
  for (std::string line; std::getline(text, line);) {
    const Json json = Json::parse(line, nullptr, false);
    try {
      if (json.is_discarded()) break;
      reader.take(json);
    } catch (const Json::exception&) {
      break;
    }
  }
  return reader.finish();
}

}  // namespace ferry::traffic
