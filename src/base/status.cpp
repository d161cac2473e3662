// SPDX-License-Identifier: Apache-2.0
#include "base/status.hpp"

#include <fmt/format.h>

namespace ferry {

const char* code_phrase(Code code) {
  switch (code) {
    case Code::ok:
      return "ok";
    case Code::invalid_argument:
      return "invalid argument";
    case Code::out_of_memory:
      return "out of memory";
    case Code::not_initialized:
      return "not initialised";
    case Code::no_device:
      return "no such device";
    case Code::not_supported:
      return "not supported";
    case Code::not_ready:
      return "not ready";
    case Code::not_owned:
      return "pointer not owned by this pool";
    case Code::already_freed:
      return "pointer already freed";
    case Code::capture_active:
      return "illegal while a stream captures";
    case Code::device_lost:
      return "device lost";
    case Code::io_error:
      return "input/output error";
    case Code::malformed_input:
      return "malformed input";
    case Code::internal:
      return "internal error";
  }
  return "unknown";
}

namespace {

// "CUDA error 2, CUDA_ERROR_OUT_OF_MEMORY"
std::string cuda_error(int result) {
  switch (result) {
#define FERRY_CUDA_ERROR(number, name, phrase) \
  case number:                                 \
    return fmt::format("CUDA error {}, {}", number, #name);
#include "abi/cuda_errors.inc"
    default:
      return fmt::format("CUDA error {}", result);
  }
}

}  // namespace

std::string Status::describe() const {
  switch (domain_) {
    case Domain::cuda:
      return fmt::format("{} ({}: {})", code_phrase(code_), site_, cuda_error(native_));
    case Domain::system:
      return fmt::format("{} ({}: errno {})", code_phrase(code_), site_, native_);
    case Domain::ferry:
      break;
  }
  return *site_ == '\0' ? code_phrase(code_) : fmt::format("{} ({})", code_phrase(code_), site_);
}

std::string Failure::describe() const {
  return words_.empty() ? status_.describe() : fmt::format("{}: {}", status_.describe(), words_);
}

}  // namespace ferry
