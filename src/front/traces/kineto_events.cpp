// SPDX-License-Identifier: Apache-2.0
#include "front/traces/kineto_events.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "front/traces/history.hpp"
#include "front/traces/json_chars.hpp"
#include "front/traces/messages.hpp"

namespace ferry::replay {
namespace {

constexpr std::uint64_t kDeepest = 1000;

// One value of an event, as far as it matters.
struct Scalar {
  enum class Kind : std::uint8_t { missing, whole, real, text, other };
  Kind kind = Kind::missing;
  bool negative = false;
  std::uint64_t magnitude = 0;
  double real = 0;
  std::string text;
};

enum Argument { kAddress, kBytes, kDeviceType, kDeviceId, kAllocated, kReserved, kArguments };
constexpr std::array<std::string_view, kArguments> kArgumentNames{
    "Addr", "Bytes", "Device Type", "Device Id", "Total Allocated", "Total Reserved"};

// Follows the parser and keeps what belongs to the event at hand. Each callback returns false to
// stop.
class Collector {
 public:
  explicit Collector(JsonChars& chars) : chars_(chars) {}

  // What nlohmann::json::sax_parse calls.
  bool null() { return take(Scalar::Kind::other); }
  bool boolean(bool) { return take(Scalar::Kind::other); }
  bool number_integer(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    return take(Scalar::Kind::whole, value < 0, value < 0 ? ~bits + 1 : bits);
  }
  bool number_unsigned(std::uint64_t value) { return take(Scalar::Kind::whole, false, value); }
  bool number_float(double value, const std::string&) {
    return take(Scalar::Kind::real, false, 0, value);
  }
  bool string(std::string& value) { return take(Scalar::Kind::text, false, 0, 0, value); }
  bool binary(std::vector<std::uint8_t>&) { return true; }  // JSON has none
  bool key(std::string& name);
  bool start_object(std::size_t) { return open(false); }
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(true); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t position, const std::string& token, const std::exception&);

  [[nodiscard]] std::vector<KinetoMemoryEvent>& events() { return events_; }
  [[nodiscard]] const std::optional<TraceError>& error() const { return error_; }

 private:
  bool open(bool is_array);
  bool close();
  bool take(Scalar::Kind kind, bool negative = false, std::uint64_t magnitude = 0, double real = 0,
            std::string_view text = {});
  bool finish_event();
  bool fail(std::string_view what);
  bool number(Argument argument, std::uint64_t largest, Scalar& out);
  bool optional_total(Argument argument, std::optional<Bytes>& out);

  JsonChars& chars_;
  std::uint64_t depth_ = 0;
  std::uint64_t events_depth_ = 0;  // of the array of events; 0 outside
  bool next_is_events_ = false;     // the key "traceEvents" was read
  bool in_args_ = false;
  bool value_ended_ = false;  // the outermost one
  Scalar* target_ = nullptr;  // where the next value goes
  Scalar name_;
  Scalar time_;
  std::array<Scalar, kArguments> arguments_;
  std::vector<KinetoMemoryEvent> events_;
  std::uint64_t count_ = 0;
  std::optional<TraceError> error_;
};

bool Collector::fail(std::string_view what) {
  error_ = TraceError{fmt::format("is no valid Kineto trace: memory event {}: {}", count_, what),
                      chars_.offset()};
  return false;
}

bool Collector::open(bool is_array) {
  if (target_ != nullptr) target_->kind = Scalar::Kind::other;
  target_ = nullptr;
  if (++depth_ > kDeepest) {
    error_ = TraceError{fmt::format("nests JSON more than {} deep", kDeepest), chars_.offset()};
    return false;
  }
  if (events_depth_ == 0) {
    // The events stand in the array "traceEvents", or the whole file is that array.
    if (is_array && (depth_ == 1 || (depth_ == 2 && next_is_events_))) events_depth_ = depth_;
    next_is_events_ = false;
  } else if (depth_ == events_depth_ + 1) {
    name_ = {};
    time_ = {};
    arguments_ = {};
  }
  return true;
}

bool Collector::close() {
  if (events_depth_ != 0) {
    if (depth_ == events_depth_ + 1 && !finish_event()) return false;
    if (depth_ == events_depth_ + 2) in_args_ = false;
    if (depth_ == events_depth_) events_depth_ = 0;
  }
  --depth_;
  value_ended_ = depth_ == 0;
  return true;
}

bool Collector::key(std::string& name) {
  target_ = nullptr;
  if (events_depth_ == 0) {
    next_is_events_ = depth_ == 1 && name == "traceEvents";
  } else if (depth_ == events_depth_ + 1) {
    in_args_ = name == "args";
    if (name == "name") target_ = &name_;
    if (name == "ts") target_ = &time_;
  } else if (depth_ == events_depth_ + 2 && in_args_) {
    for (std::size_t i = 0; i < kArgumentNames.size(); ++i) {
      if (name == kArgumentNames[i]) target_ = &arguments_[i];
    }
  }
  return true;
}

bool Collector::take(Scalar::Kind kind, bool negative, std::uint64_t magnitude, double real,
                     std::string_view text) {
  next_is_events_ = false;
  if (target_ != nullptr) *target_ = {kind, negative, magnitude, real, std::string(text)};
  target_ = nullptr;
  return true;
}

bool Collector::number(Argument argument, std::uint64_t largest, Scalar& out) {
  out = arguments_[argument];
  const std::string_view name = kArgumentNames[argument];
  if (out.kind == Scalar::Kind::missing) return fail(fmt::format("'{}' is missing", name));
  if (out.kind == Scalar::Kind::text && argument == kAddress) {
    // Some versions write addresses as text.
    std::string_view digits = out.text;
    const bool hexadecimal = digits.starts_with("0x");
    if (hexadecimal) digits.remove_prefix(2);
    const char* const last = digits.data() + digits.size();
    const auto [end, code] =
        std::from_chars(digits.data(), last, out.magnitude, hexadecimal ? 16 : 10);
    if (code == std::errc{} && end == last) out.kind = Scalar::Kind::whole;
  }
  if (out.kind != Scalar::Kind::whole) return fail(fmt::format("'{}' is no whole number", name));
  if (out.magnitude > largest) return fail(fmt::format("'{}' is larger than {}", name, largest));
  return true;
}

// A total that is missing, negative or not a number is unknown.
bool Collector::optional_total(Argument argument, std::optional<Bytes>& out) {
  const Scalar& value = arguments_[argument];
  if (value.kind == Scalar::Kind::missing) return true;
  if (value.kind == Scalar::Kind::text && value.text.empty()) return true;  // NaN, see JsonChars
  Scalar total;
  if (!number(argument, kMaxTraceLive.count, total)) return false;
  if (!total.negative) out = Bytes{total.magnitude};
  return true;
}

bool Collector::finish_event() {
  if (name_.kind != Scalar::Kind::text || name_.text != "[memory]") return true;
  ++count_;
  KinetoMemoryEvent event;
  Scalar value;
  if (time_.kind == Scalar::Kind::whole) {
    event.time_us = static_cast<double>(time_.magnitude) * (time_.negative ? -1 : 1);
  } else if (time_.kind == Scalar::Kind::real) {
    event.time_us = time_.real;
  } else {
    return fail(time_.kind == Scalar::Kind::missing ? "'ts' is missing" : "'ts' is no number");
  }
  constexpr double kFurthest = 1e17;  // far beyond any clock, and within 64 bits
  if (std::abs(event.time_us) > kFurthest) return fail("'ts' is beyond any clock");

  constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
  constexpr std::uint64_t kMaxId = std::numeric_limits<std::int16_t>::max();
  if (!number(kAddress, kAny, value)) return false;
  event.address = value.negative ? ~value.magnitude + 1 : value.magnitude;
  if (!number(kDeviceType, kMaxId, value)) return false;
  event.device_type = static_cast<std::int32_t>(value.magnitude) * (value.negative ? -1 : 1);
  if (!number(kDeviceId, kMaxId, value)) return false;
  event.device = static_cast<std::int32_t>(value.magnitude) * (value.negative ? -1 : 1);
  if (!number(kBytes, kMaxTraceBlock.count, value)) return false;
  event.bytes = Bytes{value.magnitude};
  event.is_free = value.negative;
  if (!optional_total(kAllocated, event.total_allocated)) return false;
  if (!optional_total(kReserved, event.total_reserved)) return false;
  if (events_.size() >= kMaxTraceEvents) {
    return fail(fmt::format("there are more than {} events", kMaxTraceEvents));
  }
  if (event.bytes.count != 0) events_.push_back(event);
  return true;
}

// `position` counts the characters that were read, the one beyond the end too.
bool Collector::parse_error(std::size_t position, const std::string& token, const std::exception&) {
  if (error_) return false;
  if (depth_ == 0 && value_ended_) {
    // Such as one of JSON lines, which say nothing about memory.
    error_ = TraceError{.message = "holds more than one JSON value, so it is no Kineto trace",
                        .offset = position == 0 ? 0 : position - 1,
                        .nothing_to_replay = count_ == 0};
  } else if (position > chars_.offset()) {
    error_ = TraceError{"is cut off: its JSON has no end", chars_.offset()};
  } else {
    error_ = TraceError{fmt::format("is no valid JSON near {}", in_quotes(token)),
                        position == 0 ? 0 : position - 1};
  }
  return false;
}

}  // namespace

Result<std::vector<KinetoMemoryEvent>, TraceError> read_kineto_events(ByteSource& source) {
  JsonChars chars(source);
  Collector collector(chars);
  const bool complete =
      nlohmann::json::sax_parse(JsonCharIterator(chars), JsonCharIterator(), &collector);
  // A source that fails looks to the parser like an early end.
  if (chars.error()) return *chars.error();
  if (!complete) return *collector.error();
  return std::move(collector.events());
}

}  // namespace ferry::replay
