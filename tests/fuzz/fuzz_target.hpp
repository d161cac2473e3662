// SPDX-License-Identifier: Apache-2.0
// What each fuzz target offers to its drivers, fuzz_main.cpp and libFuzzer: a function that takes
// any bytes, and valid inputs to begin from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace ferry::fuzz {

[[nodiscard]] std::vector<std::string> seeds();

}  // namespace ferry::fuzz
