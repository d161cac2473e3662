// SPDX-License-Identifier: Apache-2.0
#include "sim/words/framework_operator.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace ferry::sim {

namespace {

// Never destroyed: programs call the driver from static destructors too.
struct KnownOperators {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, FrameworkOperator> all;
};

KnownOperators& known_operators() {
  static auto* const known = new KnownOperators();
  return *known;
}

}  // namespace

const FrameworkOperator* known_operator(std::string_view name, std::string_view place) {
  KnownOperators& known = known_operators();
  const std::scoped_lock lock(known.mutex);
  std::pair key{std::string(name), std::string(place)};
  const auto found = known.all.find(key);
  if (found != known.all.end()) return &found->second;
  FrameworkOperator made{key.first, key.second};
  return &known.all.emplace(std::move(key), std::move(made)).first->second;
}

}  // namespace ferry::sim
