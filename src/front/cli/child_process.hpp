// SPDX-License-Identifier: Apache-2.0
// What commands need that run a program as a child and look at what it left behind.
#pragma once

#include <sys/types.h>

#include <string>

namespace ferry::cli {

// A folder for scratch files, gone when this is. Its path is empty where none can be made (errno).
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Waits for its end: its exit code, or 128 + the signal that ended it.
[[nodiscard]] int status_of(pid_t child);

}  // namespace ferry::cli
