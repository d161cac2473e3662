// SPDX-License-Identifier: Apache-2.0
// Writes down what a sanitizer is told, in words. One at a time; only one thread at a time may
// tell.
#pragma once

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/order/thread_sanitizer.hpp"

namespace ferry::sim {

class FakeSanitizer {
 public:
  FakeSanitizer() { current_ = this; }
  ~FakeSanitizer() { current_ = nullptr; }
  FakeSanitizer(const FakeSanitizer&) = delete;
  FakeSanitizer& operator=(const FakeSanitizer&) = delete;

  // What the log is to call an address.
  void* name(void* address, const std::string& text) {
    names_[address] = text;
    return address;
  }

  [[nodiscard]] static const Sanitizer& functions() {
    static constexpr Sanitizer kAll = {
        [] { return static_cast<void*>(nullptr); },
        [](unsigned) { return current_->create(); },
        [](void* fiber) { current_->say("{} is gone", current_->text_of(fiber)); },
        [](void* fiber, unsigned flags) { current_->switch_to(fiber, flags); },
        [](void*, const char*) {},
        [](void* token) { current_->say("{} acquires {}", current_->who(), token); },
        [](void* token) { current_->say("{} releases {}", current_->who(), token); },
        [](void* start, unsigned long bytes, void* from) {
          current_->touch("reads", start, bytes, from);
        },
        [](void* start, unsigned long bytes, void* from) {
          current_->touch("writes", start, bytes, from);
        },
        [] {},
        [] {},
        [](const char*, int) { --current_->heed; },
        [](const char*, int) { ++current_->heed; },
    };
    return kAll;
  }

  std::vector<std::string> log;
  int heed = 0;  // more than 0: order is heeded

 private:
  void* create() {
    fibers_.push_back(std::make_unique<char>());
    return name(fibers_.back().get(), fmt::format("fiber {}", fibers_.size()));
  }
  void switch_to(void* fiber, unsigned flags) {
    fiber_ = fiber;
    log.push_back(fmt::format("to {}{}", who(), flags == 1 ? " without order" : ""));
  }
  void touch(const char* verb, void* start, unsigned long bytes, void* from) {
    const auto known = names_.find(from);
    log.push_back(fmt::format("{} {} {} at {} from {}", who(), verb, bytes, fmt::ptr(start),
                              known == names_.end() ? "elsewhere" : known->second));
  }
  void say(const char* sentence, const std::string& subject) {
    log.push_back(fmt::format(fmt::runtime(sentence), subject));
  }
  void say(const char* sentence, const std::string& subject, void* object) {
    const std::string unheard = fiber_ == nullptr && heed <= 0 ? " unheard" : "";
    log.push_back(fmt::format(fmt::runtime(sentence), subject, text_of(object)) + unheard);
  }
  [[nodiscard]] std::string who() const { return fiber_ == nullptr ? "thread" : text_of(fiber_); }
  // Tokens that nobody named get a number when they are seen first.
  [[nodiscard]] std::string text_of(void* address) const {
    const auto [known, is_new] = names_.try_emplace(address);
    if (is_new) known->second = fmt::format("token {}", ++tokens_);
    return known->second;
  }

  inline static FakeSanitizer* current_ = nullptr;
  std::vector<std::unique_ptr<char>> fibers_;
  mutable std::map<void*, std::string> names_;
  mutable int tokens_ = 0;
  void* fiber_ = nullptr;  // null: the thread itself
};

}  // namespace ferry::sim
