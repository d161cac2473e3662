// SPDX-License-Identifier: Apache-2.0
// A process that has as many descriptors as it may have, for as long as the object is there.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace ferry::sim {

class NoDescriptors {
 public:
  NoDescriptors() {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    EXPECT_EQ(limit({0, before_.rlim_max}), 0);
  }
  ~NoDescriptors() { EXPECT_EQ(limit(before_), 0); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  static int limit(const rlimit& wanted) { return setrlimit(RLIMIT_NOFILE, &wanted); }

  rlimit before_{};
};

}  // namespace ferry::sim
