// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/call_book.hpp"

namespace ferry::sim {

int CallBook::enter(Symbol symbol) {
  ++counts_[static_cast<std::size_t>(symbol)];
  int result = 0;
  for (auto rule = rules_.begin(); rule != rules_.end();) {
    if (rule->function != row_of(symbol).name || --rule->nth > 0) {
      ++rule;
      continue;
    }
    if (result == 0) result = rule->result;
    rule = rules_.erase(rule);
  }
  return result;
}

std::uint64_t CallBook::calls(std::string_view name) const {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < kSymbols.size(); ++i) {
    if (kSymbols[i].name == name) total += counts_[i];
  }
  return total;
}

}  // namespace ferry::sim
