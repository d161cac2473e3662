// SPDX-License-Identifier: Apache-2.0
#include "sim/words/jit_options.hpp"

#include <cstdint>
#include <cstring>
#include <span>

namespace ferry::sim {

namespace {

// What is to be said, as far as the log has room for it and its end.
void write_log(std::span<const CUjit_option> options, void** values, CUjit_option log,
               CUjit_option its_size, std::string_view said) {
  char* text = nullptr;
  void** size = nullptr;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (options[i] == log) text = static_cast<char*>(values[i]);
    if (options[i] == its_size) size = &values[i];
  }
  if (size == nullptr) return;
  const auto room = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(*size));
  std::size_t written = 0;
  if (text != nullptr && room > 0) {
    written = said.substr(0, room - 1).copy(text, room - 1);
    text[written] = '\0';
  }
  *size = reinterpret_cast<void*>(static_cast<std::uintptr_t>(written));
}

}  // namespace

bool answer_jit_options(const JitOptions& asked, std::string_view errors) {
  const auto [count, options, values] = asked;
  if (count == 0) return true;
  if (options == nullptr || values == nullptr) return false;
  const std::span all(options, count);
  write_log(all, values, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, {});
  write_log(all, values, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, errors);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const float none = 0;
    if (all[i] == CU_JIT_WALL_TIME) std::memcpy(&values[i], &none, sizeof none);
  }
  return true;
}

}  // namespace ferry::sim
