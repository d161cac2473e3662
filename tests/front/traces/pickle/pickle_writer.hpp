// SPDX-License-Identifier: Apache-2.0
// Writes small pickles for tests, as Python's own pickler does: every container and text goes into
// the memo, and a text that comes again is fetched from there.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ferry::replay::testing {

struct Py {
  struct None {};
  struct Tuple {
    std::vector<Py> items;
  };
  using List = std::vector<Py>;
  using Dict = std::vector<std::pair<std::string, Py>>;
  std::variant<None, bool, std::int64_t, double, std::string, List, Tuple, Dict> value;

  Py() : value(None{}) {}
  Py(int number) : value(std::int64_t{number}) {}
  Py(std::int64_t number) : value(number) {}
  Py(bool truth) : value(truth) {}
  Py(double number) : value(number) {}
  Py(const char* text) : value(std::string(text)) {}
  Py(std::string text) : value(std::move(text)) {}
  Py(List items) : value(std::move(items)) {}
  Py(Tuple items) : value(std::move(items)) {}
  Py(Dict items) : value(std::move(items)) {}

  // The value under a key of a dict, made when it is not there.
  Py& operator[](std::string_view key) {
    auto& items = std::get<Dict>(value);
    for (auto& [name, item] : items) {
      if (name == key) return item;
    }
    return items.emplace_back(std::string(key), Py{}).second;
  }
  Py& at(std::size_t index) { return std::get<List>(value).at(index); }
  void erase(std::string_view key) {
    std::erase_if(std::get<Dict>(value), [&](const auto& item) { return item.first == key; });
  }
};

class PickleWriter {
 public:
  explicit PickleWriter(int protocol) : protocol_(protocol) {}

  std::string write(const Py& value) {
    out_.clear();
    if (protocol_ >= 2) out_ += {'\x80', static_cast<char>(protocol_)};
    put(value);
    out_ += '.';
    return out_;
  }

 private:
  [[nodiscard]] bool is_text() const { return protocol_ == 0; }

  void little(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out_ += static_cast<char>(value >> (8 * i));
  }

  void memoize() {
    const std::uint64_t number = memo_size_++;
    if (is_text()) {
      out_ += 'p' + std::to_string(number) + '\n';
    } else if (protocol_ >= 4) {
      out_ += '\x94';
    } else if (number < 256) {
      out_ += 'q';
      little(number, 1);
    } else {
      out_ += 'r';
      little(number, 4);
    }
  }

  void put(const Py& value) {
    std::visit([this](const auto& item) { put_one(item); }, value.value);
  }
  void put_one(const Py::None&) { out_ += 'N'; }
  void put_one(const bool& truth) {
    if (protocol_ >= 2) {
      out_ += truth ? '\x88' : '\x89';
    } else {
      out_ += truth ? "I01\n" : "I00\n";
    }
  }
  void put_one(const std::int64_t& number) {
    if (is_text()) {
      out_ += 'L' + std::to_string(number) + "L\n";
    } else if (number >= 0 && number < 256) {
      out_ += 'K';
      little(static_cast<std::uint64_t>(number), 1);
    } else if (number >= -0x80000000LL && number < 0x80000000LL) {
      out_ += 'J';
      little(static_cast<std::uint64_t>(number), 4);
    } else if (protocol_ >= 2) {
      out_ += {'\x8a', '\x08'};
      little(static_cast<std::uint64_t>(number), 8);
    } else {
      out_ += 'L' + std::to_string(number) + "L\n";
    }
  }
  void put_one(const double& number) {
    if (is_text()) {
      out_ += 'F' + std::to_string(number) + '\n';
      return;
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    out_ += 'G';
    for (int i = 7; i >= 0; --i) out_ += static_cast<char>(bits >> (8 * i));
  }
  void put_one(const std::string& text) {
    if (const auto known = texts_.find(text); known != texts_.end()) {
      if (is_text()) {
        out_ += 'g' + std::to_string(known->second) + '\n';
      } else if (known->second < 256) {
        out_ += 'h';
        little(known->second, 1);
      } else {
        out_ += 'j';
        little(known->second, 4);
      }
      return;
    }
    if (is_text()) {
      out_ += 'V' + text + '\n';
    } else if (protocol_ >= 4 && text.size() < 256) {
      out_ += '\x8c';
      little(text.size(), 1);
      out_ += text;
    } else {
      out_ += 'X';
      little(text.size(), 4);
      out_ += text;
    }
    texts_[text] = memo_size_;
    memoize();
  }
  void put_one(const Py::List& items) {
    out_ += is_text() ? "(l" : "]";
    memoize();
    if (is_text()) {
      for (const Py& item : items) {
        put(item);
        out_ += 'a';
      }
    } else if (!items.empty()) {
      out_ += '(';
      for (const Py& item : items) put(item);
      out_ += 'e';
    }
  }
  void put_one(const Py::Tuple& tuple) {
    out_ += '(';
    for (const Py& item : tuple.items) put(item);
    out_ += 't';
    memoize();
  }
  void put_one(const Py::Dict& items) {
    out_ += is_text() ? "(d" : "}";
    memoize();
    if (!is_text() && !items.empty()) out_ += '(';
    for (const auto& [key, item] : items) {
      put(Py(key));
      put(item);
      if (is_text()) out_ += 's';
    }
    if (!is_text() && !items.empty()) out_ += 'u';
  }

  int protocol_;
  std::string out_;
  std::uint64_t memo_size_ = 0;
  std::map<std::string, std::uint64_t> texts_;
};

inline std::string pickled(const Py& value, int protocol = 2) {
  return PickleWriter(protocol).write(value);
}

}  // namespace ferry::replay::testing
