// SPDX-License-Identifier: Apache-2.0
#include "front/cli/trace_selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace ferry::cli {

namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool is_hidden(const fs::path& path) {
  return path.filename().native().starts_with('.');
}

// Adds the regular files below a folder. Links to folders are not followed: they may lead in
// circles.
std::string add_folder(const std::string& folder, std::vector<SelectedFile>& files) {
  std::vector<std::string> found;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  while (!error && entry != fs::recursive_directory_iterator()) {
    std::error_code unknown;
    if (is_hidden(entry->path())) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file(unknown)) {
      found.push_back(entry->path().string());
    }
    entry.increment(error);
  }
  if (error) return fmt::format("{}: the folder could not be read: {}.", folder, error.message());
  if (found.empty()) return fmt::format("{}: the folder holds no file.", folder);
  std::sort(found.begin(), found.end());
  for (std::string& path : found) files.push_back({.path = std::move(path), .named = false});
  return "";
}

}  // namespace

Result<std::vector<SelectedFile>, std::string> select_traces(
    const std::vector<std::string>& named) {
  std::vector<SelectedFile> files;
  if (named.empty()) {
    const char* const folder = std::getenv("FERRY_TRACE_DIR");
    if (folder == nullptr || *folder == '\0') {
      return std::string("a trace FILE is needed; see ferry replay --help.");
    }
    if (!is_folder(folder)) return fmt::format("FERRY_TRACE_DIR: there is no folder {}.", folder);
    if (std::string trouble = add_folder(folder, files); !trouble.empty()) {
      return "FERRY_TRACE_DIR: " + trouble;
    }
    return files;
  }
  for (const std::string& path : named) {
    if (!is_folder(path)) {
      files.push_back({.path = path});
    } else if (std::string trouble = add_folder(path, files); !trouble.empty()) {
      return trouble;
    }
  }
  return files;
}

}  // namespace ferry::cli
