// SPDX-License-Identifier: Apache-2.0
#include "sim/words/go_between.hpp"

#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace ferry::sim {

namespace {

constexpr int kMostFrames = 64;

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// What starts programs and threads, and calls back into them, the sanitizers too; never who asked
// for something.
bool is_of_the_system(std::string_view file) {
  constexpr std::array<std::string_view, 8> kNames{"libc.so",    "libpthread",  "libstdc++.so",
                                                   "libc++.so",  "ld-",         "libtsan.so",
                                                   "libasan.so", "libclang_rt."};
  return std::ranges::any_of(
      kNames, [&](std::string_view name) { return base_name(file).starts_with(name); });
}

struct Search {
  std::uintptr_t code = 0;
  std::string file;  // of the module that holds it; empty for the program itself
};

int look_at(dl_phdr_info* info, std::size_t, void* out) {
  auto& search = *static_cast<Search*>(out);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const std::uintptr_t start = info->dlpi_addr + header.p_vaddr;
    if (header.p_type != PT_LOAD || search.code < start || search.code >= start + header.p_memsz)
      continue;
    if (info->dlpi_name != nullptr) search.file = info->dlpi_name;
    return 1;
  }
  return 0;
}

std::string file_of(const void* code) {
  // A byte back: a call may be the last instruction of its function.
  Search search{reinterpret_cast<std::uintptr_t>(code) - 1, {}};
  dl_iterate_phdr(look_at, &search);
  return search.file;
}

struct Walk {
  const OwnModule& own;
  const void* site;
  bool inside = false;  // has reached the call from `site`
  int depth = 0;
};

_Unwind_Reason_Code step(_Unwind_Context* context, void* out) {
  auto& walk = *static_cast<Walk*>(out);
  if (++walk.depth > kMostFrames) return _URC_END_OF_STACK;
  const auto* const at = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  if (at == walk.site) walk.inside = true;
  // A thread's outermost frame may have no address.
  if (!walk.inside || at == nullptr || walk.own.contains(at)) return _URC_NO_REASON;
  const std::string file = file_of(at);
  if (is_go_between(file) || is_of_the_system(file)) return _URC_NO_REASON;
  walk.site = at;
  return _URC_END_OF_STACK;
}

}  // namespace

bool is_go_between(std::string_view file) {
  const std::string_view name = base_name(file);
  return name.starts_with("libcudart") ||
         (name.starts_with("libferry") && name.find(".so") != std::string_view::npos);
}

bool lies_in_go_between(const void* code) {
  // A library may take the place of another that was closed: then a report names a line too far in.
  static std::array<std::atomic<std::uintptr_t>, 1024> known{};
  const auto address = reinterpret_cast<std::uintptr_t>(code);
  std::atomic<std::uintptr_t>& place = known[(address ^ (address >> 10)) % known.size()];
  // No address of a process needs the highest bit.
  const std::uintptr_t found = place.load(std::memory_order_relaxed);
  if (found >> 1 == address) return (found & 1) != 0;
  const bool is_one = is_go_between(file_of(code));
  place.store(address << 1 | (is_one ? 1 : 0), std::memory_order_relaxed);
  return is_one;
}

const void* entered_from(const void* site, const OwnModule& own) {
  Walk walk{own, site};
  _Unwind_Backtrace(step, &walk);
  return walk.site;
}

}  // namespace ferry::sim
