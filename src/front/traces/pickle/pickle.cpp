// SPDX-License-Identifier: Apache-2.0
#include "front/traces/pickle/pickle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "front/traces/messages.hpp"
#include "front/traces/pickle/pickle_input.hpp"
#include "front/traces/pickle/pickle_memo.hpp"
#include "front/traces/pickle/pickle_refusals.hpp"
#include "front/traces/pickle/pickle_scalars.hpp"

namespace ferry::replay {
namespace {

constexpr std::uint64_t kNewestProtocol = 5;

class Decoder {
 public:
  Decoder(std::string_view source, PickleLimits limits)
      : input_(source), limits_(limits), document_(source) {
    memory_limit_ = std::min(limits.memory_ceiling.count,
                             limits.memory_base.count + source.size() * limits.memory_per_byte);
  }

  Result<PickleDocument, TraceError> run();

 private:
  // Each returns false after it has said what is wrong through `input_.fail`.
  bool step(Opcode opcode);
  bool read_frame(Opcode opcode);
  bool begin_container(PickleKind kind);
  bool make_tuple(std::uint64_t count);
  bool make_from_mark(PickleKind kind);
  bool fill_one(PickleKind kind);
  bool fill_from_mark(PickleKind kind);
  bool fill(std::uint64_t first, PickleKind kind);
  bool use_memo(Opcode opcode);
  bool take_memo_number(Opcode opcode, std::uint64_t& out);
  bool push_mark();
  bool pop();
  bool pop_mark(std::uint64_t& first);
  bool count_pop();
  bool push(PickleValue value);
  bool refuse(Opcode opcode);
  bool need(std::uint64_t values);
  bool within_memory();

  // Values under the newest mark belong to a container that is still being made.
  [[nodiscard]] std::uint64_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  PickleInput input_;
  PickleLimits limits_;
  std::uint64_t memory_limit_ = 0;
  PickleDocument document_;
  std::vector<PickleValue> stack_;
  std::vector<std::uint64_t> marks_;  // heights of the stack
  std::uint64_t pops_ = 0;
  PickleMemo memo_;
};

Result<PickleDocument, TraceError> Decoder::run() {
  // Texts are kept as an offset of 33 bits.
  if (input_.size() >= kMaxTraceStream.count) {
    return TraceError{fmt::format("is a pickle of {} or more", format_bytes(kMaxTraceStream)),
                      std::nullopt};
  }
  while (!input_.at_end()) {
    const Opcode opcode = input_.opcode();
    if (opcode == Opcode::stop) {
      if (!need(1)) return *input_.error();
      document_.set_root(stack_.back());
      return std::move(document_);
    }
    if (!step(opcode) || !within_memory()) return *input_.error();
  }
  return TraceError{"is cut off: its pickle has no end", input_.size()};
}

bool Decoder::step(Opcode opcode) {
  if (is_number_opcode(opcode)) return push(read_number(opcode, input_, document_));
  if (is_text_opcode(opcode)) return push(read_text(opcode, input_, document_));
  std::uint64_t first = 0;
  switch (opcode) {
    case Opcode::proto:
    case Opcode::frame:
      return read_frame(opcode);
    case Opcode::empty_dict:
      return begin_container(PickleKind::dict);
    case Opcode::empty_list:
      return begin_container(PickleKind::list);
    case Opcode::empty_set:
      return begin_container(PickleKind::set);
    case Opcode::empty_tuple:
      return begin_container(PickleKind::tuple);
    case Opcode::tuple1:
      return make_tuple(1);
    case Opcode::tuple2:
      return make_tuple(2);
    case Opcode::tuple3:
      return make_tuple(3);
    case Opcode::tuple:
      return make_from_mark(PickleKind::tuple);
    case Opcode::list:
      return make_from_mark(PickleKind::list);
    case Opcode::dict:
      return make_from_mark(PickleKind::dict);
    case Opcode::frozen_set:
      return make_from_mark(PickleKind::set);
    case Opcode::append:
      return fill_one(PickleKind::list);
    case Opcode::set_item:
      return fill_one(PickleKind::dict);
    case Opcode::appends:
      return fill_from_mark(PickleKind::list);
    case Opcode::set_items:
      return fill_from_mark(PickleKind::dict);
    case Opcode::add_items:
      return fill_from_mark(PickleKind::set);
    case Opcode::mark:
      return push_mark();
    case Opcode::pop:
      return pop();
    case Opcode::pop_mark:
      if (!count_pop() || !pop_mark(first)) return false;
      stack_.resize(first);
      return true;
    case Opcode::dup:
      return need(1) && push(stack_.back());
    case Opcode::get:
    case Opcode::bin_get:
    case Opcode::long_bin_get:
    case Opcode::put:
    case Opcode::bin_put:
    case Opcode::long_bin_put:
    case Opcode::memoize:
      return use_memo(opcode);
    default:
      return refuse(opcode);
  }
}

bool Decoder::within_memory() {
  if (document_.memory_bytes() + memo_.memory_bytes() <= memory_limit_) return true;
  return input_.fail(
      fmt::format("unpacks to more than {} of values", format_bytes(Bytes{memory_limit_})));
}

bool Decoder::read_frame(Opcode opcode) {
  std::uint64_t value = 0;
  if (opcode == Opcode::proto) {
    if (!input_.take_number(1, value)) return false;
    if (value <= kNewestProtocol) return true;
    return input_.fail(fmt::format("uses pickle protocol {}; the newest that is known is {}", value,
                                   kNewestProtocol));
  }
  // A frame only tells how much to fetch at once; what it announces must still be there.
  if (!input_.take_number(8, value)) return false;
  const std::uint64_t left = input_.size() - input_.at();
  if (value <= left) return true;
  return input_.fail(
      fmt::format("is cut off: a frame of {} bytes is announced and {} are there", value, left));
}

bool Decoder::push(PickleValue value) {
  if (value.empty()) return false;  // reading it failed
  if (stack_.size() >= limits_.stack) {
    return input_.fail(
        fmt::format("has more than {} values that wait for their container", limits_.stack));
  }
  stack_.push_back(value);
  return true;
}

bool Decoder::need(std::uint64_t values) {
  if (stack_.size() - floor() >= values) return true;
  return input_.fail("is no valid pickle: an opcode finds no value to work on");
}

bool Decoder::push_mark() {
  if (marks_.size() >= limits_.marks) {
    return input_.fail(fmt::format("nests more than {} containers", limits_.marks));
  }
  marks_.push_back(stack_.size());
  return true;
}

bool Decoder::pop_mark(std::uint64_t& first) {
  if (marks_.empty()) return input_.fail("is no valid pickle: it ends a container it never began");
  first = marks_.back();
  marks_.pop_back();
  return true;
}

// What is dropped stays in the document; picklers drop values only in tuples that hold themselves.
bool Decoder::count_pop() {
  if (++pops_ <= limits_.pops) return true;
  return input_.fail(
      fmt::format("drops values more than {} times, as no pickler does", limits_.pops));
}

bool Decoder::pop() {
  if (!count_pop()) return false;
  if (!marks_.empty() && marks_.back() == stack_.size()) {
    marks_.pop_back();
    return true;
  }
  if (!need(1)) return false;
  stack_.pop_back();
  return true;
}

bool Decoder::begin_container(PickleKind kind) {
  return push(document_.make_container(kind, input_.opcode_at()));
}

bool Decoder::make_tuple(std::uint64_t count) {
  if (!need(count)) return false;
  const PickleValue tuple = document_.make_container(PickleKind::tuple, input_.opcode_at());
  document_.append(tuple, stack_.data() + (stack_.size() - count), count);
  stack_.resize(stack_.size() - count);
  return push(tuple);
}

bool Decoder::make_from_mark(PickleKind kind) {
  std::uint64_t first = 0;
  if (!pop_mark(first)) return false;
  const PickleValue made = document_.make_container(kind, input_.opcode_at());
  stack_.insert(stack_.begin() + static_cast<std::ptrdiff_t>(first), made);
  return fill(first + 1, kind);
}

bool Decoder::fill_one(PickleKind kind) {
  const std::uint64_t count = kind == PickleKind::dict ? 2 : 1;
  return need(count + 1) && fill(stack_.size() - count, kind);
}

bool Decoder::fill_from_mark(PickleKind kind) {
  std::uint64_t first = 0;
  if (!pop_mark(first)) return false;
  if (first <= floor()) return input_.fail("is no valid pickle: values without their container");
  return fill(first, kind);
}

// Moves the values from `first` upwards into the container just below them.
bool Decoder::fill(std::uint64_t first, PickleKind kind) {
  const PickleValue container = stack_[first - 1];
  const std::uint64_t count = stack_.size() - first;
  if (document_.kind(container) != kind) {
    return input_.fail(fmt::format("is no valid pickle: items for {} are put into {}",
                                   kind_phrase(kind), kind_phrase(document_.kind(container))));
  }
  if (kind == PickleKind::dict && count % 2 != 0) {
    return input_.fail("has a dict with a key and no value");
  }
  document_.append(container, stack_.data() + first, count);
  stack_.resize(first);
  return true;
}

bool Decoder::take_memo_number(Opcode opcode, std::uint64_t& out) {
  if (opcode == Opcode::bin_get || opcode == Opcode::bin_put) return input_.take_number(1, out);
  if (opcode != Opcode::get && opcode != Opcode::put) return input_.take_number(4, out);
  std::string_view line;
  if (!input_.take_line(line)) return false;
  const char* const last = line.data() + line.size();
  const auto [end, code] = std::from_chars(line.data(), last, out);
  if (code == std::errc{} && end == last) return true;
  return input_.fail(
      fmt::format("has {} where the number of a memo entry belongs", in_quotes(line)));
}

bool Decoder::use_memo(Opcode opcode) {
  std::uint64_t number = 0;
  if (opcode == Opcode::memoize) {
    if (!need(1)) return false;
    memo_.put_next(stack_.back());
    return true;
  }
  if (!take_memo_number(opcode, number)) return false;
  if (opcode == Opcode::put || opcode == Opcode::bin_put || opcode == Opcode::long_bin_put) {
    if (!need(1)) return false;
    memo_.put(number, stack_.back());
    return true;
  }
  const auto value = memo_.get(number);
  if (value) return push(*value);
  return input_.fail(fmt::format("refers to memo entry {}, which it never stored", number));
}

bool Decoder::refuse(Opcode opcode) {
  const std::size_t height = stack_.size();
  refuse_opcode(opcode, input_, document_, height > 1 ? stack_[height - 2] : PickleValue{},
                height > 0 ? stack_[height - 1] : PickleValue{});
  return false;
}

}  // namespace

Result<PickleDocument, TraceError> decode_pickle(std::string_view source, PickleLimits limits) {
  return Decoder(source, limits).run();
}

bool looks_like_pickle(std::string_view head) {
  if (head.empty()) return false;
  switch (static_cast<Opcode>(static_cast<unsigned char>(head.front()))) {
    case Opcode::proto:
    case Opcode::mark:
    case Opcode::empty_dict:
    case Opcode::empty_list:
      break;
    case Opcode::global: {
      // Two lines of names: a comma or a blank would make it some other text.
      const std::size_t end = head.find('\n', head.find('\n') + 1);
      if (end == std::string_view::npos) return false;
      return head.substr(0, end).find_first_not_of(
                 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.\n") ==
             std::string_view::npos;
    }
    default:
      return false;
  }
  // JSON may begin with ']' or '}' only by mistake, with '[' or '{' otherwise; a pickle never does.
  return true;
}

}  // namespace ferry::replay
