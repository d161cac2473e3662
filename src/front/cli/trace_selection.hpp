// SPDX-License-Identifier: Apache-2.0
// Which files a replay takes: those named, those below the folders named, or those below the folder
// of FERRY_TRACE_DIR where nothing is named.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"

namespace ferry::cli {

struct SelectedFile {
  std::string path;
  bool named = true;  // false: found in a folder, and left out if it turns out to be no trace
};

// Files keep the order in which they were named; those of a folder, with all folders below it, are
// in order of their paths. Hidden files and folders are passed over. A path that does not exist is
// taken for a file, which its reader will refuse. The error is a sentence.
[[nodiscard]] Result<std::vector<SelectedFile>, std::string> select_traces(
    const std::vector<std::string>& named);

}  // namespace ferry::cli
