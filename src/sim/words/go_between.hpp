// SPDX-License-Identifier: Apache-2.0
// Libraries that call the driver on behalf of a program: a line inside them helps nobody who reads
// a report. Ferry's own and CUDA's runtime are known. For the calls of a program itself this costs
// a look into a table of its call sites; nothing here takes a lock that the loader holds while it
// runs the code of programs.
#pragma once

#include <string_view>

#include "sim/words/own_module.hpp"

namespace ferry::sim {

// By the file's name: libferry*.so* or libcudart*.
[[nodiscard]] bool is_go_between(std::string_view file);

// Whether code of the process belongs to such a library.
[[nodiscard]] bool lies_in_go_between(const void* code);

// The return address of the call, among those under way in this thread, with which the program
// entered the go-between that `site` lies in; `site` itself where the program has no part in it
// (a thread of the library's own). Requires: called from inside `own`.
[[nodiscard]] const void* entered_from(const void* site, const OwnModule& own);

}  // namespace ferry::sim
