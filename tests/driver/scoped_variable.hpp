// SPDX-License-Identifier: Apache-2.0
// An environment variable set (or unset, by null) for one scope of a test. Requires: no other
// threads.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace ferry::testing {

class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name); before != nullptr) before_ = before;
    set(value);
  }
  ~ScopedVariable() { set(before_ ? before_->c_str() : nullptr); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  void set(const char* value) { value == nullptr ? unsetenv(name_) : setenv(name_, value, 1); }

  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace ferry::testing
