// SPDX-License-Identifier: Apache-2.0
#include "front/capi/c_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ferry::capi {

namespace {

// Without a destructor: calls also fail in the destructors that run when a thread or the process
// ends, after those of this library.
constinit thread_local std::array<char, kLongestMessage + 1> last_error{};

}  // namespace

ferry_status fail(ferry_status code, std::string_view message) {
  const std::size_t length = std::min(message.size(), kLongestMessage);
  std::copy_n(message.begin(), length, last_error.begin());
  last_error[length] = '\0';
  return code;
}

ferry_status fail_after_fork(const char* function) {
  return fail(FERRY_ERROR_NOT_INITIALIZED,
              std::string(function) +
                  ": this process is the child of a fork() after its parent had started Ferry, and "
                  "CUDA does not work in such a child: start Ferry only after the fork, or call "
                  "exec in the child");
}

ferry_status to_c(Code code) {
  static_assert(static_cast<int>(Code::ok) == FERRY_OK);
  static_assert(static_cast<int>(Code::invalid_argument) == FERRY_ERROR_INVALID_ARGUMENT);
  static_assert(static_cast<int>(Code::out_of_memory) == FERRY_ERROR_OUT_OF_MEMORY);
  static_assert(static_cast<int>(Code::not_initialized) == FERRY_ERROR_NOT_INITIALIZED);
  static_assert(static_cast<int>(Code::no_device) == FERRY_ERROR_NO_DEVICE);
  static_assert(static_cast<int>(Code::not_supported) == FERRY_ERROR_NOT_SUPPORTED);
  static_assert(static_cast<int>(Code::not_ready) == FERRY_ERROR_NOT_READY);
  static_assert(static_cast<int>(Code::not_owned) == FERRY_ERROR_NOT_OWNED);
  static_assert(static_cast<int>(Code::already_freed) == FERRY_ERROR_ALREADY_FREED);
  static_assert(static_cast<int>(Code::capture_active) == FERRY_ERROR_CAPTURE_ACTIVE);
  static_assert(static_cast<int>(Code::device_lost) == FERRY_ERROR_DEVICE_LOST);
  static_assert(static_cast<int>(Code::io_error) == FERRY_ERROR_IO);
  static_assert(static_cast<int>(Code::malformed_input) == FERRY_ERROR_MALFORMED_INPUT);
  static_assert(static_cast<int>(Code::internal) == FERRY_ERROR_INTERNAL);
  return static_cast<ferry_status>(code);
}

ferry_status fail(const Failure& failure, const char* function) {
  return fail(to_c(failure.code()), std::string(function) + ": " + failure.describe());
}

ferry_status answer(const Status& status, const char* function) {
  return status ? FERRY_OK : fail(status, function);
}

ferry_status answer_about_stream(const Status& status, const void* stream, const char* function) {
  const bool is_about_it = status.domain() == Domain::cuda ||
                           status.code() == Code::invalid_argument ||
                           status.code() == Code::capture_active;
  if (status || !is_about_it) return answer(status, function);
  return fail(Failure(status, stream == nullptr ? "the stream is NULL, the legacy default stream"
                                                : fmt::format("the stream is {}", stream)),
              function);
}

ferry_status fail_about_device(const Status& status, const Driver& driver, int device,
                               const char* function) {
  if (status.code() != Code::no_device) return fail(status, function);
  const Result<int> count = driver.device_count();
  return fail(Failure(status, count ? fmt::format("device {} was asked for, and the driver has {}, "
                                                  "counted from 0",
                                                  device, *count)
                                    : fmt::format("device {} was asked for", device)),
              function);
}

ferry_status null_argument(const char* function, const char* argument) {
  return fail(FERRY_ERROR_INVALID_ARGUMENT, std::string(function) + ": " + argument + " is NULL");
}

}  // namespace ferry::capi

const char* ferry_last_error(void) {
  return ferry::capi::last_error.data();
}

const char* ferry_status_string(ferry_status status) {
  if (status < FERRY_OK || status > FERRY_ERROR_INTERNAL) return "unknown status";
  return ferry::code_phrase(static_cast<ferry::Code>(status));
}
