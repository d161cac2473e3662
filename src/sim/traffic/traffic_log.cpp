// SPDX-License-Identifier: Apache-2.0
#include "sim/traffic/traffic_log.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "sim/words/call_site.hpp"
#include "sim/words/say_once.hpp"

namespace ferry::sim {

namespace {

using Json = nlohmann::ordered_json;

void add_asker(Json& line, const Asker& asker) {
  const bool known = asker.part_of != nullptr;
  line["operator"] = known ? asker.part_of->name : "";
  line["place"] = known && !asker.part_of->place.empty() ? asker.part_of->place
                                                         : describe_call_site(asker.site);
}

std::string text_of(const Json& line) {
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

void TrafficLog::write_line(const std::string& text) {
  if (file_ == nullptr) file_ = std::fopen(path_.c_str(), "we");
  if (file_ == nullptr) {
    say_once(fmt::format("no record of the traffic is kept: {}: {}", path_, std::strerror(errno)));
    path_.clear();
    return;
  }
  const bool written = std::fwrite(text.data(), 1, text.size(), file_) == text.size() &&
                       (!ended_ || std::fflush(file_) == 0);
  if (!written)
    say_once(fmt::format("the record of the traffic is not complete: {}", std::strerror(errno)));
}

std::shared_ptr<CopyRecord> TrafficLog::add_copy(CopyRecord record) {
  auto shared = std::make_shared<CopyRecord>(std::move(record));
  pending_.push_back({marks_, shared});
  write_what_is_known(false);
  return shared;
}

void TrafficLog::add_wait(std::string_view call, const Asker& asker) {
  Json line = {{"is", "wait"}, {"mark", marks_}, {"call", call}};
  add_asker(line, asker);
  write_line(text_of(line));
}

void TrafficLog::add_mark(std::string_view kind, std::string_view name, std::uint64_t value,
                          Picoseconds now, std::span<const std::uint64_t> in_use) {
  ++marks_;
  write_line(text_of({{"is", "mark"},
                      {"kind", kind},
                      {"name", name},
                      {"value", value},
                      {"at_ps", now},
                      {"in_use_bytes", Json(in_use)}}));
}

void TrafficLog::write_what_is_known(bool all) {
  const auto is_known = [](const CopyRecord& record) {
    return record.done && (record.time == nullptr || record.time->ended);
  };
  while (!pending_.empty() && (all || is_known(*pending_.front().record))) {
    write_copy(pending_.front());
    pending_.pop_front();
  }
}

void TrafficLog::write_copy(const Pending& pending) {
  const CopyRecord& record = *pending.record;
  Json line = {{"is", "copy"},          {"mark", pending.mark},    {"way", record.way},
               {"bytes", record.bytes}, {"pinned", record.pinned}, {"blocks", record.blocks},
               {"call", record.call}};
  add_asker(line, record.asker);
  line["device"] = record.device;
  line["stream"] = record.stream;
  if (record.time != nullptr && record.time->ended) {
    line["begin_ps"] = record.time->begin;
    line["end_ps"] = record.time->end;
  }
  if (record.contents) {
    line["digest"] = fmt::format("{:016x}", record.contents->digest);
    line["zero"] = record.contents->zero;
    line["widened"] = record.contents->widened;
  }
  write_line(text_of(line));
}

void TrafficLog::end() {
  if (!is_on() || ended_) return;
  write_what_is_known(true);
  ended_ = true;
  if (file_ == nullptr) return;
  write_line(text_of({{"is", "end"}}));
}

}  // namespace ferry::sim
