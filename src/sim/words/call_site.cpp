// SPDX-License-Identifier: Apache-2.0
#include "sim/words/call_site.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>

#include "sim/words/go_between.hpp"

namespace ferry::sim {

namespace {

constexpr int kMostFrames = 16;  // the stand-in's own calls are not nested as deep

std::string readable(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
  return status == 0 ? name.get() : symbol;
}

// The loader knows the program itself by no name.
std::string file_of(const link_map& module) {
  if (module.l_name != nullptr && *module.l_name != '\0') return module.l_name;
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "the program";
}

}  // namespace

const void* first_outside(const Frame* frame, const OwnModule& module) {
  for (int depth = 0; depth < kMostFrames && frame != nullptr; ++depth) {
    if (!module.contains(frame->return_address)) return frame->return_address;
    frame = frame->caller;
  }
  return nullptr;
}

const void* find_call_site(const void* frame_address) {
#if defined(__x86_64__) || defined(__aarch64__)
  const OwnModule& module = own_module();
  if (module.is_library) {
    const void* const site = first_outside(static_cast<const Frame*>(frame_address), module);
    return lies_in_go_between(site) ? entered_from(site, module) : site;
  }
#else
  static_cast<void>(frame_address);
#endif
  return nullptr;
}

std::string describe_call_site(const void* return_address) {
  if (return_address == nullptr) return "";
  // One back: the call itself, which may be the last instruction of its line or function.
  const auto call = reinterpret_cast<std::uintptr_t>(return_address) - 1;
  Dl_info info{};
  link_map* module = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(call), &info, reinterpret_cast<void**>(&module),
              RTLD_DL_LINKMAP) == 0 ||
      module == nullptr) {
    return fmt::format("{:#x}", call);
  }
  const std::string file = file_of(*module);
  const std::string place =
      fmt::format("{} (addr2line -Cfe {} {:#x})", file, file, call - module->l_addr);
  if (info.dli_sname == nullptr) return place;
  return fmt::format("{}+{:#x} in {}", readable(info.dli_sname),
                     call - reinterpret_cast<std::uintptr_t>(info.dli_saddr), place);
}

}  // namespace ferry::sim
