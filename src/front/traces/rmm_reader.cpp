// SPDX-License-Identifier: Apache-2.0
#include "front/traces/rmm_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "front/traces/history.hpp"
#include "front/traces/line_reader.hpp"
#include "front/traces/messages.hpp"

namespace ferry::replay {
namespace {

enum Column { kTime, kAction, kPointer, kSize, kStream };
constexpr std::array<std::string_view, 5> kColumnNames{"time", "action", "pointer", "size",
                                                       "stream"};
constexpr std::int64_t kMicrosPerSecond = 1'000'000;
constexpr std::int64_t kMicrosPerDay = 24 * 3600 * kMicrosPerSecond;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kAround = " \t\r\"";
  const std::size_t first = text.find_first_not_of(kAround);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kAround) - first + 1);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// The fields of a line, each trimmed of blanks and quotation marks.
void split(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  while (true) {
    const std::size_t comma = line.find(',');
    fields.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
}

std::optional<std::uint64_t> parse_number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, code] = std::from_chars(text.data(), last, value, base);
  if (code != std::errc{} || end != last || text.empty()) return std::nullopt;
  return value;
}

// "0x7f10", "(nil)", "0": pointers and stream handles, as the C++ library of the day printed them.
std::optional<std::uint64_t> parse_handle(std::string_view text) {
  if (text == "(nil)" || text == "nil" || text == "null") return 0;
  if (text.starts_with("0x") || text.starts_with("0X")) return parse_number(text.substr(2), 16);
  if (const auto decimal = parse_number(text, 10)) return decimal;
  return parse_number(text, 16);
}

// "HH:MM:SS:micros" or "HH:MM:SS.fraction", in microseconds of the day.
std::optional<std::int64_t> parse_time(std::string_view text) {
  std::array<std::uint64_t, 3> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t end = i + 1 < parts.size() ? text.find(':') : text.find_first_of(":.,");
    const auto value = parse_number(text.substr(0, end), 10);
    if (!value || *value > 99) return std::nullopt;
    parts[i] = *value;
    if (end == std::string_view::npos) {
      if (i + 1 < parts.size()) return std::nullopt;
      text = {};
    } else {
      text.remove_prefix(i + 1 < parts.size() ? end + 1 : end);
    }
  }
  std::uint64_t micros = 0;
  if (!text.empty()) {
    std::string digits(text.substr(1, 6));
    if (text.front() == '.') digits.resize(6, '0');
    const auto value = parse_number(digits, 10);
    if (!value) return std::nullopt;
    micros = *value;
  }
  const std::uint64_t seconds = (parts[0] * 60 + parts[1]) * 60 + parts[2];
  return static_cast<std::int64_t>(seconds) * kMicrosPerSecond + static_cast<std::int64_t>(micros);
}

class RmmReader {
 public:
  explicit RmmReader(ByteSource& source) : lines_(source) {}
  Result<Trace, TraceError> read();

 private:
  // Each returns false after it has set `error_`.
  bool read_header();
  bool read_row(const TextLine& line);
  bool read_handle(Column column, const TextLine& line, std::uint64_t& out);
  bool fail(const TextLine& line, std::string_view at, std::string_view what);
  [[nodiscard]] std::string_view field(Column column) const;
  std::int64_t read_time();
  void note(Trace& trace) const;

  LineReader lines_;
  std::array<std::optional<std::size_t>, kColumnNames.size()> columns_;
  std::size_t header_fields_ = 0;
  std::vector<std::string_view> fields_;
  History history_;
  std::int64_t day_ = 0;
  std::int64_t last_time_ = 0;
  std::uint64_t bad_times_ = 0;
  std::uint64_t failures_ = 0;
  Bytes last_failure_;
  std::optional<TraceError> error_;
};

bool RmmReader::fail(const TextLine& line, std::string_view at, std::string_view what) {
  std::uint64_t offset = line.offset;
  if (!at.empty()) offset += static_cast<std::uint64_t>(at.data() - line.text.data());
  error_ = TraceError{fmt::format("is no valid RMM log: line {}: {}", line.number, what), offset};
  return false;
}

std::string_view RmmReader::field(Column column) const {
  return columns_[column] ? fields_[*columns_[column]] : std::string_view{};
}

bool RmmReader::read_header() {
  auto line = lines_.next();
  if (!line) {
    error_ = std::move(line).error();
    return false;
  }
  split(line->text, fields_);
  header_fields_ = fields_.size();
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const auto name = std::find(kColumnNames.begin(), kColumnNames.end(), lower(fields_[i]));
    if (name == kColumnNames.end()) continue;
    auto& column = columns_[static_cast<std::size_t>(name - kColumnNames.begin())];
    if (column)
      return fail(*line, {}, fmt::format("the column {} is there twice", in_quotes(*name)));
    column = i;
  }
  for (const Column needed : {kAction, kPointer, kSize}) {
    if (!columns_[needed]) {
      return fail(*line, {}, fmt::format("the header has no column '{}'", kColumnNames[needed]));
    }
  }
  return true;
}

bool RmmReader::read_handle(Column column, const TextLine& line, std::uint64_t& out) {
  const std::string_view text = field(column);
  const auto value = text.empty() ? std::optional<std::uint64_t>(0) : parse_handle(text);
  if (!value) {
    return fail(
        line, text,
        fmt::format("the {} is {}, which is no address", kColumnNames[column], in_quotes(text)));
  }
  out = *value;
  return true;
}

// Logs carry the time of day, so it starts over at midnight.
std::int64_t RmmReader::read_time() {
  if (!columns_[kTime]) return 0;
  const auto time = parse_time(field(kTime));
  if (!time) {
    ++bad_times_;
    return last_time_;
  }
  if (day_ + *time < last_time_ - kMicrosPerDay / 2) day_ += kMicrosPerDay;
  last_time_ = std::max(last_time_, day_ + *time);
  return last_time_;
}

bool RmmReader::read_row(const TextLine& line) {
  if (trimmed(line.text).empty()) return true;
  split(line.text, fields_);
  if (fields_.size() < header_fields_) {
    return fail(line, {},
                fmt::format("it has {} fields and the header {}", fields_.size(), header_fields_));
  }
  HistoryCall call;
  if (!read_handle(kPointer, line, call.address)) return false;
  if (!read_handle(kStream, line, call.stream)) return false;
  const auto size = parse_number(field(kSize), 10);
  if (!size || *size > kMaxTraceBlock.count) {
    return fail(
        line, field(kSize),
        fmt::format("the size is {}, which is no number of bytes", in_quotes(field(kSize))));
  }
  call.bytes = Bytes{*size};
  call.time_us = read_time();
  if (history_.full()) {
    return fail(line, {}, fmt::format("the log has more than {} events", kMaxTraceEvents));
  }
  const std::string action = lower(field(kAction));
  if (action == "allocate") {
    if (call.address != 0) history_.allocate(call);  // nothing was given for zero bytes
  } else if (action == "free" || action == "deallocate") {
    if (call.address != 0) history_.free(call);
  } else if (action == "allocate failure") {
    ++failures_;
    last_failure_ = call.bytes;
  } else {
    return fail(line, field(kAction),
                fmt::format("the action is {}, which is not known", in_quotes(field(kAction))));
  }
  return true;
}

void RmmReader::note(Trace& trace) const {
  if (failures_ == 1) {
    trace.notes.push_back(
        fmt::format("An allocation of the recorded program, of {}, failed; it is not replayed.",
                    format_bytes(last_failure_)));
  } else if (failures_ != 0) {
    trace.notes.push_back(fmt::format(
        "{} allocations of the recorded program failed, the last of {}; they are not replayed.",
        failures_, format_bytes(last_failure_)));
  }
  if (bad_times_ != 0) {
    trace.notes.push_back(
        fmt::format("{} taken to follow the line before at once.",
                    counted(bad_times_, "line has a time that could not be understood; it is",
                            "lines have a time that could not be understood; they are")));
  }
  for (std::string& sentence : describe_mending(history_.counts(), 0)) {
    trace.notes.push_back(std::move(sentence));
  }
}

Result<Trace, TraceError> RmmReader::read() {
  if (!read_header()) return *std::move(error_);
  while (true) {
    auto line = lines_.next();
    if (!line) return std::move(line).error();
    if (line->number == 0) break;
    if (!read_row(*line)) return *std::move(error_);
  }
  if (!history_.any_block()) {
    return TraceError{.message = "is an RMM log without any allocation: there is nothing to replay",
                      .nothing_to_replay = true};
  }
  Trace trace;
  trace.format = "RMM log";
  auto device = history_.finish(0, history_.first_time().value_or(0));
  if (!device) return std::move(device).error();
  note(trace);
  trace.devices.push_back(std::move(*device));
  return trace;
}

}  // namespace

Result<Trace, TraceError> read_rmm_log(ByteSource& source) {
  return RmmReader(source).read();
}

bool looks_like_rmm_log(std::string_view head) {
  std::vector<std::string_view> fields;
  split(head.substr(0, std::min(head.find('\n'), kLongestLine)), fields);
  int found = 0;
  for (const std::string_view name : fields) {
    const std::string known = lower(name);
    if (known == "action" || known == "pointer") ++found;
  }
  return found >= 2;
}

}  // namespace ferry::replay
