// SPDX-License-Identifier: Apache-2.0
// Exported: the log of errors. In it stands what the stand-in says on stderr of things that it does
// not support.
#include "sim/words/driver_log.hpp"

#include <cstdio>
#include <string>
#include <string_view>

#include "sim/machine/library.hpp"

namespace ferry::sim {

namespace {

constexpr std::string_view kOlderGone = "(older messages are not there)\n";

// The messages of an excerpt, each with a newline; only the latest of them that `room` bytes
// hold. Nothing where that is none of them.
std::string text_of(const DriverLog::Excerpt& excerpt, std::size_t room) {
  std::size_t bytes = 0;
  std::size_t first = excerpt.messages.size();
  const auto needed = [&](std::size_t from) {
    return excerpt.complete && from == 0 ? 0 : kOlderGone.size();
  };
  std::size_t best = first;
  while (first > 0) {
    bytes += excerpt.messages[--first].size() + 1;
    if (bytes + needed(first) <= room) best = first;
  }
  if (best == excerpt.messages.size()) return {};
  std::string text(kOlderGone.substr(0, needed(best)));
  for (std::size_t i = best; i < excerpt.messages.size(); ++i) text += excerpt.messages[i] + '\n';
  return text;
}

// Without an iterator: from the first message on.
DriverLog::Excerpt excerpt_of(const CUlogIterator* iterator) {
  return DriverLog::get().since(iterator == nullptr ? 0 : *iterator);
}

}  // namespace

}  // namespace ferry::sim

using ferry::sim::DriverLog;
using ferry::sim::Library;
using ferry::sim::Symbol;

CUresult cuLogsRegisterCallback(CUlogsCallback callbackFunc, void* userData,
                                CUlogsCallbackHandle* callback_out) {
  const CUresult refused = Library::get().note(Symbol::cuLogsRegisterCallback);
  if (refused != CUDA_SUCCESS) return refused;
  if (callbackFunc == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUlogsCallbackHandle handle = DriverLog::get().add_callback(callbackFunc, userData);
  if (callback_out != nullptr) *callback_out = handle;
  return CUDA_SUCCESS;
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle callback) {
  const CUresult refused = Library::get().note(Symbol::cuLogsUnregisterCallback);
  if (refused != CUDA_SUCCESS) return refused;
  return DriverLog::get().remove_callback(callback) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLogsCurrent(CUlogIterator* iterator_out, unsigned int flags) {
  const CUresult refused = Library::get().note(Symbol::cuLogsCurrent);
  if (refused != CUDA_SUCCESS) return refused;
  if (iterator_out == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  *iterator_out = DriverLog::get().end();
  return CUDA_SUCCESS;
}

CUresult cuLogsDumpToFile(CUlogIterator* iterator, const char* pathToFile, unsigned int flags) {
  const CUresult refused = Library::get().note(Symbol::cuLogsDumpToFile);
  if (refused != CUDA_SUCCESS) return refused;
  if (pathToFile == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const DriverLog::Excerpt excerpt = ferry::sim::excerpt_of(iterator);
  const std::string text = ferry::sim::text_of(excerpt, 2 * DriverLog::kMostBytes);
  std::FILE* const file = std::fopen(pathToFile, "w");
  if (file == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !written) return CUDA_ERROR_INVALID_VALUE;
  if (iterator != nullptr) *iterator = excerpt.end;
  return CUDA_SUCCESS;
}

CUresult cuLogsDumpToMemory(CUlogIterator* iterator, char* buffer, size_t* size,
                            unsigned int flags) {
  const CUresult refused = Library::get().note(Symbol::cuLogsDumpToMemory);
  if (refused != CUDA_SUCCESS) return refused;
  if (buffer == nullptr || size == nullptr || *size == 0 || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  const DriverLog::Excerpt excerpt = ferry::sim::excerpt_of(iterator);
  const std::string text = ferry::sim::text_of(excerpt, *size - 1);
  *size = text.size();
  buffer[text.copy(buffer, text.size())] = '\0';
  if (text.empty() && !excerpt.messages.empty()) return CUDA_ERROR_INVALID_VALUE;
  if (iterator != nullptr) *iterator = excerpt.end;
  return CUDA_SUCCESS;
}
