// SPDX-License-Identifier: Apache-2.0
// Loads libcuda.so.1 as any CUDA program does, starts it, and prints which file it was.
#include <dlfcn.h>

#include <cstdio>

int main() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::puts("none");
    return 1;
  }
  void* const init = dlsym(library, "cuInit");
  Dl_info info{};
  if (init == nullptr || dladdr(init, &info) == 0) return 2;
  std::puts(info.dli_fname);
  return reinterpret_cast<int (*)(unsigned)>(init)(0) == 0 ? 0 : 3;
}
