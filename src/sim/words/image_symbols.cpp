// SPDX-License-Identifier: Apache-2.0
#include "sim/words/image_symbols.hpp"

#include <algorithm>

#include "sim/words/cubin_symbols.hpp"
#include "sim/words/ptx_symbols.hpp"
#include "sim/words/ptx_words.hpp"

namespace ferry::sim {

bool ImageSymbols::has_kernel(std::string_view name) const {
  return std::ranges::find(kernels, name) != kernels.end();
}

const ImageVariable* ImageSymbols::find_variable(std::string_view name) const {
  const auto found = std::ranges::find(variables, name, &ImageVariable::name);
  return found == variables.end() ? nullptr : &*found;
}

std::optional<ImageSymbols> read_symbols(ImageBytes image) {
  for (const ImageBytes& part : parts_of(image)) {
    const std::string_view text(reinterpret_cast<const char*>(part.data()), part.size());
    if (is_ptx(text)) return read_ptx_symbols(text.substr(0, text.find('\0')));
    if (auto symbols = read_cubin_symbols(part)) return symbols;
  }
  return std::nullopt;
}

}  // namespace ferry::sim
