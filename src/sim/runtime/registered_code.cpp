// SPDX-License-Identifier: Apache-2.0
#include "sim/runtime/registered_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ferry::sim::runtime {

struct RegisteredKernel {
  const char* name = nullptr;
  mutable std::map<unsigned long long, CUfunction> functions;  // by context
};

namespace {

struct RegisteredVariable {
  const char* name = nullptr;
  std::size_t bytes = 0;
  std::map<unsigned long long, CUdeviceptr> addresses;  // by context
};

}  // namespace

class CodeUnit {
 public:
  std::vector<const void*> kernels;  // by host side
  std::vector<const void*> variables;
};

namespace {

struct Table {
  std::mutex mutex;
  std::unordered_map<const void*, std::unique_ptr<RegisteredKernel>> kernels;  // by host side
  std::unordered_map<const void*, RegisteredVariable> variables;
  std::unordered_map<const void*, const RegisteredKernel*> themselves;  // kernels given out
};

Table& table() {
  static auto* const all = new Table;
  return *all;
}

// Captures go on: a module may be loaded at the first launch, wherever that is.
class CaptureMode {
 public:
  CaptureMode() { cuThreadExchangeStreamCaptureMode(&mode_); }
  ~CaptureMode() { cuThreadExchangeStreamCaptureMode(&mode_); }
  CaptureMode(const CaptureMode&) = delete;
  CaptureMode& operator=(const CaptureMode&) = delete;

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

CUresult load(const std::string& declaration, CUmodule& out) {
  const CaptureMode relaxed;
  const std::string text =
      fmt::format(".version 8.0\n.target sm_52\n.address_size 64\n.visible {}\n", declaration);
  return cuModuleLoadData(&out, text.c_str());
}

CUresult context_number(unsigned long long& out) {
  return cuCtxGetId(nullptr, &out);
}

CUresult load_function(const char* name, CUfunction& out) {
  CUmodule module = nullptr;
  const CUresult loaded = load(fmt::format(".entry {}()\n{{\n ret;\n}}", name), module);
  return loaded == CUDA_SUCCESS ? cuModuleGetFunction(&out, module, name) : loaded;
}

CUresult load_variable(const RegisteredVariable& variable, CUdeviceptr& out) {
  constexpr int kMostAligned = 256;
  CUmodule module = nullptr;
  const CUresult loaded = load(fmt::format(".global .align {} .b8 {}[{}];", kMostAligned,
                                           variable.name, std::max<std::size_t>(variable.bytes, 1)),
                               module);
  if (loaded != CUDA_SUCCESS) return loaded;
  std::size_t bytes = 0;
  return cuModuleGetGlobal(&out, &bytes, module, variable.name);
}

// The one of this context, made where there is none yet.
template <typename Value, typename Make>
CUresult find_or_make(std::map<unsigned long long, Value>& known, Value& out, Make&& make) {
  unsigned long long context = 0;
  if (const CUresult asked = context_number(context); asked != CUDA_SUCCESS) return asked;
  if (const auto found = known.find(context); found != known.end()) {
    out = found->second;
    return CUDA_SUCCESS;
  }
  const CUresult made = make(out);
  if (made == CUDA_SUCCESS) known[context] = out;
  return made;
}

}  // namespace

CodeUnit& open_unit() {
  return *new CodeUnit;
}

void unregister(CodeUnit& unit) {
  Table& all = table();
  const std::scoped_lock lock(all.mutex);
  for (const void* const host_side : unit.kernels) {
    const auto found = all.kernels.find(host_side);
    if (found == all.kernels.end()) continue;
    all.themselves.erase(found->second.get());
    all.kernels.erase(found);
  }
  for (const void* const host_side : unit.variables) all.variables.erase(host_side);
  delete &unit;
}

void register_kernel(CodeUnit& unit, const void* host_side, const char* name) {
  Table& all = table();
  const std::scoped_lock lock(all.mutex);
  auto& kernel = all.kernels[host_side];
  if (!kernel) kernel = std::make_unique<RegisteredKernel>();
  kernel->name = name;
  unit.kernels.push_back(host_side);
}

void register_variable(CodeUnit& unit, const void* host_side, const char* name, std::size_t bytes) {
  Table& all = table();
  const std::scoped_lock lock(all.mutex);
  all.variables[host_side] = {name, bytes, {}};
  unit.variables.push_back(host_side);
}

const RegisteredKernel* find_kernel(const void* host_side_or_kernel) {
  Table& all = table();
  const std::scoped_lock lock(all.mutex);
  if (const auto found = all.kernels.find(host_side_or_kernel); found != all.kernels.end()) {
    all.themselves[found->second.get()] = found->second.get();
    return found->second.get();
  }
  const auto itself = all.themselves.find(host_side_or_kernel);
  return itself == all.themselves.end() ? nullptr : itself->second;
}

void forget_code(unsigned long long context) {
  Table& all = table();
  const std::scoped_lock lock(all.mutex);
  for (const auto& [host_side, kernel] : all.kernels) kernel->functions.erase(context);
  for (auto& [host_side, variable] : all.variables) variable.addresses.erase(context);
}

const char* name_of(const RegisteredKernel& kernel) {
  return kernel.name;
}

CUresult function_of(const RegisteredKernel& kernel, CUfunction& out) {
  const std::scoped_lock lock(table().mutex);
  return find_or_make(kernel.functions, out,
                      [&](CUfunction& made) { return load_function(kernel.name, made); });
}

CUresult variable_of(const void* host_side, CUdeviceptr& address, std::size_t& bytes) {
  Table& all = table();
  const std::scoped_lock lock(all.mutex);
  const auto found = all.variables.find(host_side);
  if (found == all.variables.end()) return CUDA_ERROR_NOT_FOUND;
  bytes = found->second.bytes;
  return find_or_make(found->second.addresses, address,
                      [&](CUdeviceptr& made) { return load_variable(found->second, made); });
}

}  // namespace ferry::sim::runtime
