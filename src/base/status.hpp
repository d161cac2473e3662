// SPDX-License-Identifier: Apache-2.0
// Status and Result: how every floor reports failure. Foreign error codes are translated into these
// at the border (src/driver) and travel up as values; nothing here throws.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace ferry {

// What went wrong, in Ferry's own words. Floors above the driver decide by this, never by `native`.
enum class Code : std::uint8_t {
  ok,
  invalid_argument,  // the caller broke a stated requirement
  out_of_memory,     // device or host memory is exhausted, or a limit was reached
  not_initialized,   // no driver, or the driver is not initialised
  no_device,         // the driver answers, but there is no such device
  not_supported,     // the driver or this build lacks the feature
  not_ready,         // queued work has not finished yet
  not_owned,         // the pointer does not belong to this pool
  already_freed,     // the pointer belonged to this pool and is not live now
  capture_active,    // the call is illegal while a stream captures
  device_lost,       // the context is poisoned by an earlier fault
  io_error,          // the operating system refused
  malformed_input,   // a file or option could not be understood
  internal,          // a broken invariant in Ferry itself
};

// Who said so: Ferry itself, the CUDA driver (CUresult in `native`), or the kernel (errno).
enum class Domain : std::uint8_t { ferry, cuda, system };

// A success, or a failure with its meaning, its origin and the call that reported it.
class [[nodiscard]] Status {
 public:
  constexpr Status() = default;
  constexpr Status(Code code, const char* site) : code_(code), site_(site) {}
  constexpr Status(Code code, Domain domain, int native, const char* site)
      : code_(code), domain_(domain), native_(native), site_(site) {}

  [[nodiscard]] constexpr bool ok() const { return code_ == Code::ok; }
  [[nodiscard]] constexpr explicit operator bool() const { return ok(); }
  [[nodiscard]] constexpr Code code() const { return code_; }
  [[nodiscard]] constexpr Domain domain() const { return domain_; }
  [[nodiscard]] constexpr int native() const { return native_; }
  [[nodiscard]] constexpr const char* site() const { return site_; }

  // "out of memory (cuMemCreate: CUDA error 2, CUDA_ERROR_OUT_OF_MEMORY)"
  [[nodiscard]] std::string describe() const;

 private:
  Code code_ = Code::ok;
  Domain domain_ = Domain::ferry;
  int native_ = 0;
  const char* site_ = "";  // a string literal: the call or function that reported the failure
};

// "out of memory" and so on: the phrase of a code, for reports and the C API.
[[nodiscard]] const char* code_phrase(Code code);

// A failure with what its caller must know to mend it: which argument, which address, how much.
// For answers to a caller's mistake, since the words cost memory; elsewhere a Status does.
class [[nodiscard]] Failure {
 public:
  Failure(Status status) : status_(status) {}  // NOLINT: implicit by design
  Failure(Status status, std::string words) : status_(status), words_(std::move(words)) {}

  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] Code code() const { return status_.code(); }

  // "invalid argument: requests[3] writes to NULL"
  [[nodiscard]] std::string describe() const;

 private:
  Status status_;
  std::string words_;
};

// A value, or the reason why there is none. `E` is Status unless a richer error is needed.
template <typename T, typename E = Status>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit by design
  Result(E error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by design
  Result(Status status)                                      // NOLINT: implicit by design
      requires std::is_same_v<E, Failure> : state_(std::in_place_index<1>, status) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  [[nodiscard]] explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & { return std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
  [[nodiscard]] T& operator*() & { return value(); }
  [[nodiscard]] const T& operator*() const& { return value(); }
  [[nodiscard]] T&& operator*() && { return std::move(*this).value(); }
  [[nodiscard]] T* operator->() { return &value(); }
  [[nodiscard]] const T* operator->() const { return &value(); }

  [[nodiscard]] const E& error() const& { return std::get<1>(state_); }
  [[nodiscard]] E&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, E> state_;
};

}  // namespace ferry

// Returns from the enclosing function when `expression` is a failed Status.
#define FERRY_TRY(expression)                                                 \
  do {                                                                        \
    if (::ferry::Status ferry_try_status = (expression); !ferry_try_status) { \
      return ferry_try_status;                                                \
    }                                                                         \
  } while (false)
