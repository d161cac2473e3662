// SPDX-License-Identifier: Apache-2.0
// How the C API reports failure: a status code, and a sentence kept for the calling thread.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "base/status.hpp"
#include "ferry/ferry.h"

namespace ferry::capi {

// Keeps the sentence for ferry_last_error() and answers with the code.
ferry_status fail(ferry_status code, std::string message);

// Ferry's own codes and the C API's are the same list.
[[nodiscard]] ferry_status to_c(Code code);
ferry_status fail(const Status& status, const char* function);

// Runs the body of a C function. No exception leaves the library: the only ones that Ferry's own
// code can meet come from the host's memory being exhausted.
template <typename Body>
ferry_status guarded(const char* function, const Body& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return FERRY_ERROR_OUT_OF_MEMORY;  // no memory for a sentence either
  } catch (const std::exception& error) {
    return fail(FERRY_ERROR_INTERNAL, std::string(function) + ": " + error.what());
  }
}

}  // namespace ferry::capi
