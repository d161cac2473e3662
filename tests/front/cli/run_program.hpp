// SPDX-License-Identifier: Apache-2.0
// Runs a program to its end and keeps what it printed. For tests of whole programs.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace ferry::testing {

struct Outcome {
  int exit_code = -1;  // 128 + the signal where one ended it, as shells say it
  std::string out;
  std::string err;
};

// The environment of this process, with changes: "NAME=value" sets, "NAME" unsets.
inline std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  std::vector<std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable) result.emplace_back(*variable);
  for (const std::string& change : changes) {
    const std::string prefix = change.substr(0, change.find('=')) + "=";
    std::erase_if(result, [&](const std::string& old) { return old.starts_with(prefix); });
    if (change.find('=') != std::string::npos) result.push_back(change);
  }
  return result;
}

// A file that is gone when this is.
class ScratchFile {
 public:
  ScratchFile() : path_(::testing::TempDir() + "ferry_XXXXXX"), file_(mkstemp(path_.data())) {}
  ~ScratchFile() {
    close(file_);
    unlink(path_.c_str());
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return file_; }
  [[nodiscard]] std::string content() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

 private:
  std::string path_;
  int file_;
};

inline Outcome run_program(std::vector<std::string> arguments,
                           const std::vector<std::string>& environment_changes = {}) {
  const auto pointers = [](std::vector<std::string>& words) {
    std::vector<char*> result;
    for (std::string& word : words) result.push_back(word.data());
    result.push_back(nullptr);
    return result;
  };
  std::vector<std::string> environment = environment_with(environment_changes);
  const ScratchFile out;
  const ScratchFile err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.descriptor(), STDERR_FILENO);
  pid_t child = 0;
  const int failed = posix_spawn(&child, arguments[0].c_str(), &actions, nullptr,
                                 pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    ADD_FAILURE() << arguments[0] << " could not be started";
    return {};
  }
  int status = 0;
  waitpid(child, &status, 0);
  const int exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {exit_code, out.content(), err.content()};
}

}  // namespace ferry::testing
