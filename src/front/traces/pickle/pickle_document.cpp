// SPDX-License-Identifier: Apache-2.0
#include "front/traces/pickle/pickle_document.hpp"

#include <algorithm>
#include <bit>

namespace ferry::replay {
namespace {

constexpr unsigned kTagBits = 3;
constexpr unsigned kPayloadBits = 64 - kTagBits;
constexpr unsigned kTextOffsetBits = 33;  // the longest stream is 8 GiB
constexpr unsigned kKindBits = 8;

// A container is four words: kind and size, first chunk, last chunk, offset in the source.
// A chunk is two words, next chunk and count, and then its values. No chunk has the index 0.
constexpr std::uint64_t kContainerWords = 4;
constexpr std::uint64_t kChunkWords = 2;

// Not 0: a word of 0 is no value.
constexpr std::uint64_t kNone = 1;
constexpr std::uint64_t kFalse = 2;
constexpr std::uint64_t kTrue = 3;

}  // namespace

const char* kind_phrase(PickleKind kind) {
  switch (kind) {
    case PickleKind::none:
      return "None";
    case PickleKind::boolean:
      return "a truth value";
    case PickleKind::integer:
      return "a whole number";
    case PickleKind::real:
      return "a floating-point number";
    case PickleKind::text:
      return "a text";
    case PickleKind::bytes:
      return "raw bytes";
    case PickleKind::list:
      return "a list";
    case PickleKind::tuple:
      return "a tuple";
    case PickleKind::dict:
      return "a dict";
    case PickleKind::set:
      return "a set";
  }
  return "something unknown";
}

PickleDocument::PickleDocument(std::string_view source) : source_(source) {
  (void)allocate(1);  // so that no chunk gets the index 0
}

PickleValue PickleDocument::tagged(Tag tag, std::uint64_t payload) {
  return PickleValue((payload << kTagBits) | static_cast<std::uint64_t>(tag));
}

PickleDocument::Tag PickleDocument::tag(PickleValue value) {
  return static_cast<Tag>(value.word_ & ((1U << kTagBits) - 1));
}

std::uint64_t PickleDocument::payload(PickleValue value) {
  return value.word_ >> kTagBits;
}

std::uint64_t PickleDocument::room_in_page() const {
  return pages_.size() * kPageWords - used_;
}

std::uint64_t PickleDocument::allocate(std::uint64_t words) {
  if (room_in_page() < words) {
    used_ = pages_.size() * kPageWords;
    pages_.push_back(std::make_unique_for_overwrite<std::uint64_t[]>(kPageWords));
  }
  const std::uint64_t index = used_;
  used_ += words;
  return index;
}

std::uint64_t& PickleDocument::word(std::uint64_t index) {
  return pages_[index / kPageWords][index % kPageWords];
}

std::uint64_t PickleDocument::word(std::uint64_t index) const {
  return pages_[index / kPageWords][index % kPageWords];
}

std::uint64_t PickleDocument::memory_bytes() const {
  return pages_.size() * kPageWords * sizeof(std::uint64_t);
}

PickleValue PickleDocument::make_none() {
  return tagged(Tag::constant, kNone);
}

PickleValue PickleDocument::make_boolean(bool value) {
  return tagged(Tag::constant, value ? kTrue : kFalse);
}

PickleValue PickleDocument::make_integer(PickleInteger value) {
  // Small ones carry their sign in the lowest bit, so that every address fits without the arena.
  if (!value.beyond_64_bits && value.magnitude < (std::uint64_t{1} << (kPayloadBits - 1))) {
    return tagged(Tag::small_integer, (value.magnitude << 1) | (value.negative ? 1U : 0U));
  }
  const std::uint64_t at = allocate(2);
  word(at) = (value.negative ? 1U : 0U) | (value.beyond_64_bits ? 2U : 0U);
  word(at + 1) = value.magnitude;
  return tagged(Tag::large_integer, at);
}

PickleValue PickleDocument::make_real(double value) {
  const std::uint64_t at = allocate(1);
  word(at) = std::bit_cast<std::uint64_t>(value);
  return tagged(Tag::real, at);
}

PickleValue PickleDocument::make_text(std::uint64_t offset, std::uint64_t length, PickleKind kind) {
  return tagged(kind == PickleKind::bytes ? Tag::bytes : Tag::text,
                (length << kTextOffsetBits) | offset);
}

PickleValue PickleDocument::make_container(PickleKind kind, std::uint64_t offset) {
  const std::uint64_t at = allocate(kContainerWords);
  word(at) = static_cast<std::uint64_t>(kind);
  word(at + 1) = 0;
  word(at + 2) = 0;
  word(at + 3) = offset;
  return tagged(Tag::container, at);
}

void PickleDocument::append(PickleValue container, const PickleValue* values, std::uint64_t count) {
  const std::uint64_t head = payload(container);
  word(head) += count << kKindBits;
  while (count != 0) {
    const std::uint64_t room = room_in_page();
    const std::uint64_t fits = room > kChunkWords ? room - kChunkWords : kPageWords - kChunkWords;
    const std::uint64_t now = std::min(count, fits);
    const std::uint64_t chunk = allocate(kChunkWords + now);
    word(chunk) = 0;
    word(chunk + 1) = now;
    for (std::uint64_t i = 0; i < now; ++i) word(chunk + kChunkWords + i) = values[i].word_;
    const std::uint64_t last = word(head + 2);
    word(last == 0 ? head + 1 : last) = chunk;
    word(head + 2) = chunk;
    values += now;
    count -= now;
  }
}

PickleKind PickleDocument::kind(PickleValue value) const {
  switch (tag(value)) {
    case Tag::constant:
      return payload(value) == kNone ? PickleKind::none : PickleKind::boolean;
    case Tag::small_integer:
    case Tag::large_integer:
      return PickleKind::integer;
    case Tag::real:
      return PickleKind::real;
    case Tag::text:
      return PickleKind::text;
    case Tag::bytes:
      return PickleKind::bytes;
    case Tag::container:
      break;
  }
  return static_cast<PickleKind>(word(payload(value)) & ((1U << kKindBits) - 1));
}

bool PickleDocument::is_container(PickleValue value) const {
  return tag(value) == Tag::container;
}

bool PickleDocument::boolean(PickleValue value) const {
  return payload(value) == kTrue;
}

PickleInteger PickleDocument::integer(PickleValue value) const {
  const std::uint64_t bits = payload(value);
  if (tag(value) == Tag::small_integer) return {(bits & 1) != 0, false, bits >> 1};
  return {(word(bits) & 1) != 0, (word(bits) & 2) != 0, word(bits + 1)};
}

double PickleDocument::real(PickleValue value) const {
  return std::bit_cast<double>(word(payload(value)));
}

std::string_view PickleDocument::text(PickleValue value) const {
  const std::uint64_t bits = payload(value);
  return source_.substr(bits & ((std::uint64_t{1} << kTextOffsetBits) - 1),
                        bits >> kTextOffsetBits);
}

std::uint64_t PickleDocument::size(PickleValue container) const {
  return word(payload(container)) >> kKindBits;
}

std::uint64_t PickleDocument::offset(PickleValue container) const {
  return word(payload(container) + 3);
}

PickleItems PickleDocument::items(PickleValue container) const {
  return PickleItems(*this, word(payload(container) + 1));
}

PickleItems::PickleItems(const PickleDocument& document, std::uint64_t chunk)
    : document_(&document),
      chunk_(chunk),
      left_(chunk == 0 ? 0 : document.word(chunk + 1)),
      at_(chunk + kChunkWords) {}

std::optional<PickleValue> PickleItems::next() {
  if (left_ == 0) {
    if (chunk_ == 0) return std::nullopt;
    *this = PickleItems(*document_, document_->word(chunk_));
    if (left_ == 0) return std::nullopt;
  }
  --left_;
  return PickleValue(document_->word(at_++));
}

}  // namespace ferry::replay
