// SPDX-License-Identifier: Apache-2.0
// What a pickle holds: plain values in one arena. A value is one word; texts point into the
// pickle's own bytes, which must outlive the document; a value that the pickle refers to many times
// is stored once. Made by decode_pickle, read by the snapshot reader.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace ferry::replay {

enum class PickleKind : std::uint8_t {
  none,
  boolean,
  integer,
  real,
  text,
  bytes,
  list,
  tuple,
  dict,
  set
};

// "a list", "a whole number": for sentences.
[[nodiscard]] const char* kind_phrase(PickleKind kind);

class PickleDocument;
class PickleItems;

class PickleValue {
 public:
  constexpr PickleValue() = default;
  [[nodiscard]] constexpr bool empty() const {
    return word_ == 0;
  }  // no value at all, not even None

 private:
  friend class PickleDocument;
  friend class PickleItems;
  constexpr explicit PickleValue(std::uint64_t word) : word_(word) {}
  std::uint64_t word_ = 0;
};

// Python's numbers have no limit. Those beyond 64 bits keep only their sign.
struct PickleInteger {
  bool negative = false;
  bool beyond_64_bits = false;
  std::uint64_t magnitude = 0;
};

// Walks the values of a container; a dict gives key, value, key, value.
class PickleItems {
 public:
  [[nodiscard]] std::optional<PickleValue> next();

 private:
  friend class PickleDocument;
  PickleItems(const PickleDocument& document, std::uint64_t chunk);
  const PickleDocument* document_;
  std::uint64_t chunk_;
  std::uint64_t left_;
  std::uint64_t at_;
};

class PickleDocument {
 public:
  explicit PickleDocument(std::string_view source);

  // Reading.
  [[nodiscard]] PickleValue root() const { return root_; }
  [[nodiscard]] PickleKind kind(PickleValue value) const;
  [[nodiscard]] bool is_container(PickleValue value) const;
  [[nodiscard]] bool boolean(PickleValue value) const;
  [[nodiscard]] PickleInteger integer(PickleValue value) const;
  [[nodiscard]] double real(PickleValue value) const;
  [[nodiscard]] std::string_view text(PickleValue value) const;     // of a text or of bytes
  [[nodiscard]] std::uint64_t size(PickleValue container) const;    // a dict counts keys and values
  [[nodiscard]] std::uint64_t offset(PickleValue container) const;  // where the pickle begins it
  [[nodiscard]] PickleItems items(PickleValue container) const;

  // Building, by the decoder.
  static constexpr std::uint64_t kLongestText = (std::uint64_t{1} << 28) - 1;
  [[nodiscard]] static PickleValue make_none();
  [[nodiscard]] static PickleValue make_boolean(bool value);
  [[nodiscard]] PickleValue make_integer(PickleInteger value);
  [[nodiscard]] PickleValue make_real(double value);
  // Of `source` only: at most kLongestText bytes of it.
  [[nodiscard]] PickleValue make_text(std::uint64_t offset, std::uint64_t length, PickleKind kind);
  [[nodiscard]] PickleValue make_container(PickleKind kind, std::uint64_t offset);
  void append(PickleValue container, const PickleValue* values, std::uint64_t count);
  void set_root(PickleValue value) { root_ = value; }
  [[nodiscard]] std::uint64_t memory_bytes() const;

 private:
  friend class PickleItems;
  enum class Tag : std::uint8_t {
    constant,
    small_integer,
    large_integer,
    real,
    text,
    bytes,
    container
  };

  // An index counts words over all pages. Runs of words never cross a page.
  static constexpr std::uint64_t kPageWords = std::uint64_t{1} << 16;

  [[nodiscard]] static PickleValue tagged(Tag tag, std::uint64_t payload);
  [[nodiscard]] static Tag tag(PickleValue value);
  [[nodiscard]] static std::uint64_t payload(PickleValue value);
  [[nodiscard]] std::uint64_t allocate(std::uint64_t words);
  [[nodiscard]] std::uint64_t room_in_page() const;
  [[nodiscard]] std::uint64_t& word(std::uint64_t index);
  [[nodiscard]] std::uint64_t word(std::uint64_t index) const;

  std::string_view source_;
  std::vector<std::unique_ptr<std::uint64_t[]>> pages_;
  std::uint64_t used_ = 0;
  PickleValue root_;
};

}  // namespace ferry::replay
