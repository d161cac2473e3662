// SPDX-License-Identifier: Apache-2.0
#include "front/version.hpp"

#include "commit.hpp"  // written by every build, see commit.cmake

namespace ferry {

const char* version_number() {
  return FERRY_PROJECT_VERSION;
}

const char* version_text() {
  return FERRY_PROJECT_VERSION " (commit " FERRY_COMMIT ", " FERRY_BUILD_TYPE ", " FERRY_COMPILER
                               ")";
}

}  // namespace ferry
