// SPDX-License-Identifier: Apache-2.0
// What the driver has to say about errors, for the programs that ask (cuLogs* in cuda.h): the
// latest messages, and functions of the program that receive each. One per process, usable at any
// time and from any thread: the log has a lock of its own, under which no code of the program runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "sim/words/cuda_api.hpp"

namespace ferry::sim {

class DriverLog {
 public:
  // As much as cuda.h says that a driver keeps.
  static constexpr std::size_t kMostBytes = 25600;

  [[nodiscard]] static DriverLog& get();

  // One message, without a newline. The program receives it with the next `deliver`.
  void add(std::string_view message);
  // Calls the program's functions with what was added since. Requires: no lock of the library.
  void deliver();

  // Never null, and never given again.
  [[nodiscard]] CUlogsCallbackHandle add_callback(CUlogsCallback function, void* data);
  [[nodiscard]] bool remove_callback(CUlogsCallbackHandle handle);

  // The number that the next message will have.
  [[nodiscard]] CUlogIterator end();
  struct Excerpt {
    std::vector<std::string> messages;
    CUlogIterator end = 0;
    bool complete = true;  // false where older messages are gone
  };
  [[nodiscard]] Excerpt since(CUlogIterator begin);

 private:
  struct Callback {
    CUlogsCallback function = nullptr;
    void* data = nullptr;
  };

  std::mutex mutex_;
  std::deque<std::string> messages_;  // the last of them has the number next_ - 1
  std::size_t bytes_ = 0;             // of the messages, each with a newline
  CUlogIterator next_ = 0;
  std::vector<std::string> undelivered_;
  std::atomic<bool> any_undelivered_ = false;
  std::map<std::uintptr_t, Callback> callbacks_;  // by handle
  std::uintptr_t next_handle_ = 1;
};

// Delivers at its end. Declared before the library's lock is taken.
struct LogDelivery {
  LogDelivery() = default;
  LogDelivery(const LogDelivery&) = delete;
  LogDelivery& operator=(const LogDelivery&) = delete;
  ~LogDelivery() { DriverLog::get().deliver(); }
};

}  // namespace ferry::sim
