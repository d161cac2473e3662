// SPDX-License-Identifier: Apache-2.0
// How the C API reports failure: a status code, and a sentence kept for the calling thread.
#pragma once

#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "ferry/ferry.h"
#include "front/process.hpp"

namespace ferry::capi {

// Longer messages are cut. The longest there is, the out-of-memory report, stays well below.
inline constexpr std::size_t kLongestMessage = 8191;

// Keeps the sentence for ferry_last_error() and answers with the code. Takes no memory.
ferry_status fail(ferry_status code, std::string_view message);

// Ferry's own codes and the C API's are the same list.
[[nodiscard]] ferry_status to_c(Code code);
ferry_status fail(const Failure& failure, const char* function);

// FERRY_OK, or the failure's code with its sentence kept.
ferry_status answer(const Status& status, const char* function);
// The same, and what the failed call was about: the driver says only that some handle is bad.
ferry_status answer_about_stream(const Status& status, const void* stream, const char* function);
ferry_status fail_about_device(const Status& status, const Driver& driver, int device,
                               const char* function);
// "ferry_x: y is NULL"
ferry_status null_argument(const char* function, const char* argument);

// The answer of every function in a child of fork().
ferry_status fail_after_fork(const char* function);

// Runs the body of a C function. In a child of fork() it is not run: another thread of the parent
// may have held any mutex, and CUDA does not work there. No exception leaves the library: the only
// ones that Ferry's own code can meet come from the host's memory being exhausted.
template <typename Body>
ferry_status guarded(const char* function, const Body& body) noexcept {
  try {
    if (is_forked_child()) return fail_after_fork(function);
    return body();
  } catch (const std::bad_alloc&) {
    return fail(FERRY_ERROR_OUT_OF_MEMORY, "the host's memory is exhausted");
  } catch (const std::exception& error) {
    return fail(FERRY_ERROR_INTERNAL, std::string(function) + ": " + error.what());
  }
}

}  // namespace ferry::capi
