// SPDX-License-Identifier: Apache-2.0
// The functions of libferry.so that full mode calls, looked up in the library that Python has
// loaded: nothing is linked, so that one binary serves wherever the library lies.
#pragma once

#include <dlfcn.h>
#include <ferry/pytorch.h>

#include <string>

namespace ferry_torch {

struct Api {
// clang-format off
#define FERRY_TORCH_FUNCTIONS(X) \
  X(init) X(last_error) X(process_pool) X(process_pool_limit) \
  X(device_allocate) X(device_free) X(device_record_use) X(device_pool_trim) \
  X(device_pool_set_limit) X(device_pool_open_to) X(device_pool_stats) X(device_pool_figures) X(device_pool_reset_peaks) \
  X(device_pool_reset_totals) X(device_pool_blocks) X(private_pool_retain) \
  X(private_pool_release) X(private_pool_use_count) X(private_pool_allocate) X(pinned_pool_create) X(pinned_allocate) \
  X(pinned_free) X(pinned_record_use) X(pinned_pool_trim) X(pinned_pool_stats)
// clang-format on
#define FERRY_TORCH_POINTER(name) decltype(&::ferry_##name) name = nullptr;
  FERRY_TORCH_FUNCTIONS(FERRY_TORCH_POINTER)
#undef FERRY_TORCH_POINTER

  // What is wrong, or an empty text.
  std::string load(const char* path) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return dlerror();
#define FERRY_TORCH_LOOK_UP(name)                                                     \
  name = reinterpret_cast<decltype(&::ferry_##name)>(dlsym(library, "ferry_" #name)); \
  if (name == nullptr) return std::string(path) + " is too old: it lacks ferry_" #name;
    FERRY_TORCH_FUNCTIONS(FERRY_TORCH_LOOK_UP)
#undef FERRY_TORCH_LOOK_UP
    return {};
  }
};

// The one of this process; filled in by ferry_torch_enable.
Api& api();

// Raises a RuntimeError with the library's sentence where `status` is not FERRY_OK.
void check(ferry_status status);

}  // namespace ferry_torch
