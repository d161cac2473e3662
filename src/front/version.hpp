// SPDX-License-Identifier: Apache-2.0
// What this build is: for `ferry --version`, the C API and reports.
#pragma once

namespace ferry {

// "0.1.0"
[[nodiscard]] const char* version_number();

// "0.1.0 (commit 1a2b3c4d5e6f+dirty, Release, GNU 12.2.0)"; the commit is "unknown" outside a
// checkout.
[[nodiscard]] const char* version_text();

}  // namespace ferry
