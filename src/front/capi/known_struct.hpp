// SPDX-License-Identifier: Apache-2.0
// Structs of the C API that grow from version to version: the caller says in `struct_size` which
// one it was compiled with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "ferry/ferry.h"
#include "front/capi/c_errors.hpp"

namespace ferry::capi {

// Fills in the fields that the caller knows: of an older, shorter struct only those. `unsized`:
// what to say where it set no size.
template <typename Struct>
ferry_status write_known(const Struct& now, Struct* out, const std::string& unsized) {
  const std::size_t size = out->struct_size;
  if (size <= sizeof(std::size_t)) return fail(FERRY_ERROR_INVALID_ARGUMENT, unsized);
  std::memcpy(out, &now, std::min(size, sizeof(now)));
  out->struct_size = size;
  return FERRY_OK;
}

}  // namespace ferry::capi
