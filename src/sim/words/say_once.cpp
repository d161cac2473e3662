// SPDX-License-Identifier: Apache-2.0
#include "sim/words/say_once.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <set>
#include <string>

#include "sim/words/driver_log.hpp"

namespace ferry::sim {

void say_once(std::string_view what) {
  static std::set<std::string, std::less<>> said;
  if (said.contains(what)) return;
  said.emplace(what);
  fmt::print(stderr, "ferry-sim: {}\n", what);
  DriverLog::get().add(what);
}

}  // namespace ferry::sim
