// SPDX-License-Identifier: Apache-2.0
// Exported: what a context is set to, and its names.
#include "sim/machine/stream_access.hpp"

using ferry::sim::Call;
using ferry::sim::Context;
using ferry::sim::Library;
using ferry::sim::Need;
using ferry::sim::Symbol;
using ferry::sim::value_of;

namespace {

// Runs body(Context&) with the named context, or the current one where none is named.
template <typename Body>
CUresult with_context(Symbol symbol, CUcontext handle, Body&& body) {
  return Library::get().call(symbol, Need::initialised, [&](Call& call) {
    if (handle == nullptr && call.context == nullptr) return call.no_context;
    Context* const context =
        handle == nullptr ? call.context : call.machine.contexts.find(value_of(handle));
    return context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : body(*context);
  });
}

// The limits that a device of this kind has, as they are before anybody sets one.
struct Limit {
  CUlimit limit;
  std::size_t value;
};
constexpr Limit kLimits[] = {
    {CU_LIMIT_STACK_SIZE, 1024},
    {CU_LIMIT_PRINTF_FIFO_SIZE, std::size_t{1} << 20},
    {CU_LIMIT_MALLOC_HEAP_SIZE, std::size_t{8} << 20},
    {CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2},
    {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048},
    {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64},
    {CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0},
};

const Limit* find_limit(CUlimit limit) {
  for (const Limit& known : kLimits) {
    if (known.limit == limit) return &known;
  }
  return nullptr;
}

}  // namespace

CUresult cuCtxGetId(CUcontext ctx, unsigned long long* ctxId) {
  return with_context(Symbol::cuCtxGetId, ctx, [&](const Context& context) {
    if (ctxId == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *ctxId = context.handle;  // never given twice
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int* version) {
  return with_context(Symbol::cuCtxGetApiVersion, ctx, [&](const Context&) {
    if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *version = 3020;  // the last change that broke binaries
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetFlags(unsigned int* flags) {
  return with_context(Symbol::cuCtxGetFlags, nullptr, [&](const Context& context) {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = context.flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetFlags(unsigned int flags) {
  return with_context(Symbol::cuCtxSetFlags, nullptr, [&](Context& context) {
    if (!ferry::sim::are_context_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    context.flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetLimit(size_t* pvalue, CUlimit limit) {
  return with_context(Symbol::cuCtxGetLimit, nullptr, [&](const Context& context) {
    if (pvalue == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Limit* const known = find_limit(limit);
    if (known == nullptr) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    const auto set = context.limits.find(limit);
    *pvalue = set == context.limits.end() ? known->value : set->second;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return with_context(Symbol::cuCtxSetLimit, nullptr, [&](Context& context) {
    if (find_limit(limit) == nullptr) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    context.limits[limit] = value;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* pconfig) {
  return with_context(Symbol::cuCtxGetCacheConfig, nullptr, [&](const Context& context) {
    if (pconfig == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *pconfig = static_cast<CUfunc_cache>(context.cache_config);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return with_context(Symbol::cuCtxSetCacheConfig, nullptr, [&](Context& context) {
    if (config > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
    context.cache_config = config;
    return CUDA_SUCCESS;
  });
}

// The banks of the device's shared memory are of a fixed size.
CUresult cuCtxGetSharedMemConfig(CUsharedconfig* pConfig) {
  return with_context(Symbol::cuCtxGetSharedMemConfig, nullptr, [&](const Context&) {
    if (pConfig == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *pConfig = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return with_context(Symbol::cuCtxSetSharedMemConfig, nullptr, [&](const Context&) {
    return config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_ERROR_INVALID_VALUE
                                                              : CUDA_SUCCESS;
  });
}
