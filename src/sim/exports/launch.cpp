// SPDX-License-Identifier: Apache-2.0
// Exported: launches of kernels. The kernel's host function is asked at the launch what it will
// touch, which the hazard checker and the rules of access see like those of any other operation.
// When the launch runs it works on copies of those ranges, and what it may write goes back.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "sim/exports/copies.hpp"
#include "sim/exports/launches.hpp"
#include "sim/words/say_once.hpp"

namespace ferry::sim {

namespace {

// One launch that is queued: everything that its work needs.
struct QueuedLaunch {
  std::shared_ptr<const Kernel> kernel;
  ferry_sim_launch launch{};
  KernelArguments arguments;
  std::vector<ferry_sim_range> ranges;
};

CUresult check_shape(Call& call, const FunctionEntry& function, const LaunchRequest& request) {
  const int device = call.machine.contexts.find(function.context)->device;
  const auto limit = [&](CUdevice_attribute attribute) {
    return static_cast<std::uint64_t>(call.machine.attribute(attribute, device).value_or(0));
  };
  std::uint64_t threads = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint64_t blocks = request.launch.grid[axis];
    const std::uint64_t of_block = request.launch.block[axis];
    const auto most_blocks =
        static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + axis);
    const auto most = static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + axis);
    if (blocks == 0 || of_block == 0 || blocks > limit(most_blocks) || of_block > limit(most))
      return CUDA_ERROR_INVALID_VALUE;
    threads *= of_block;
  }
  if (threads > limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)) return CUDA_ERROR_INVALID_VALUE;
  const auto shared = static_cast<std::uint64_t>(function.settings.most_dynamic_shared);
  return request.launch.dynamic_shared_bytes > shared ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

// From an array of pointers, or, for a kernel of one argument, from a buffer.
CUresult take_arguments(const LaunchRequest& request, const Kernel& kernel, KernelArguments& out) {
  const auto& sizes = kernel.argument_bytes;
  if (request.arguments != nullptr) {
    if (request.extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (request.arguments[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
      out.set(i, request.arguments[i], sizes[i]);
    }
    return CUDA_SUCCESS;
  }
  if (sizes.empty()) return CUDA_SUCCESS;
  if (request.extra == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const void* buffer = nullptr;
  std::size_t bytes = 0;
  for (void** word = request.extra; *word != CU_LAUNCH_PARAM_END; word += 2) {
    if (*word == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = word[1];
    } else if (*word == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      bytes = *static_cast<const std::size_t*>(word[1]);
    } else {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  const std::vector<std::size_t> offsets = kernel.argument_offsets();
  if (buffer == nullptr || bytes < offsets.back() + sizes.back()) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    out.set(i, static_cast<const std::byte*>(buffer) + offsets[i], sizes[i]);
  return CUDA_SUCCESS;
}

// The copies that a launch works on. Ranges that share bytes share their copy, so that a kernel
// that works in place finds what it wrote.
class LaunchMemory {
 public:
  explicit LaunchMemory(const std::vector<ferry_sim_range>& ranges) {
    std::map<std::uint64_t, std::size_t> spans;  // bytes, by address
    for (const ferry_sim_range& range : ranges) {
      if (range.bytes > 0) spans[range.address] = std::max(spans[range.address], range.bytes);
    }
    for (auto span = spans.begin(); span != spans.end();) {
      const auto next = std::next(span);
      const bool overlap = next != spans.end() && next->first - span->first < span->second;
      if (overlap) {
        span->second = std::max(span->second, next->first - span->first + next->second);
        spans.erase(next);
      } else {
        span = next;
      }
    }
    for (const auto& [start, bytes] : spans) copies_[start].resize(bytes);
  }

  [[nodiscard]] void* of(const ferry_sim_range& range) {
    if (range.bytes == 0) return nullptr;
    const auto copy = std::prev(copies_.upper_bound(range.address));
    return copy->second.data() + (range.address - copy->first);
  }

 private:
  std::map<std::uint64_t, std::vector<std::byte>> copies_;
};

// Kernels run like host code: without the driver, whatever thread they run on.
void run_on_copies(const QueuedLaunch& queued, LaunchMemory& copies) {
  std::vector<void*> memory;
  for (const ferry_sim_range& range : queued.ranges) memory.push_back(copies.of(range));
  const std::vector<const void*> arguments = queued.arguments.pointers();
  as_host_function(
      [&] { queued.kernel->functions.run(&queued.launch, arguments.data(), memory.data()); });
}

bool may_touch(Machine& machine, int device, const ferry_sim_range& range) {
  if (range.bytes == 0 || machine.host.covers(range.address, range.bytes)) return true;
  const Access access = range.writes != 0 ? Access::read_write : Access::read;
  return machine.addresses.contains(range.address) &&
         machine.operations.may(device, access, range.address, range.bytes);
}

CUresult run_launch(Machine& machine, int device, const QueuedLaunch& queued) {
  for (const ferry_sim_range& range : queued.ranges) {
    if (!may_touch(machine, device, range)) return CUDA_ERROR_ILLEGAL_ADDRESS;
  }
  if (!machine.physical.with_data()) return CUDA_SUCCESS;
  LaunchMemory copies(queued.ranges);
  const auto copy = [&](const ferry_sim_range& range, bool back) {
    const std::uint64_t here = address_of(copies.of(range));
    return back ? machine.operations.copy(device, range.address, here, range.bytes)
                : machine.operations.copy(device, here, range.address, range.bytes);
  };
  for (const ferry_sim_range& range : queued.ranges) {
    if (range.bytes == 0) continue;
    if (const CUresult read = copy(range, false); read != CUDA_SUCCESS) return read;
  }
  run_on_copies(queued, copies);
  for (const ferry_sim_range& range : queued.ranges) {
    if (range.bytes == 0 || range.writes == 0) continue;
    if (const CUresult written = copy(range, true); written != CUDA_SUCCESS) return written;
  }
  return CUDA_SUCCESS;
}

void add_touches_of(const std::vector<ferry_sim_range>& ranges, std::vector<Touch>& touches) {
  for (const ferry_sim_range& range : ranges) {
    const auto kind = range.writes != 0 ? AccessKind::write : AccessKind::read;
    if (range.bytes > 0) touches.push_back({range.address, range.bytes, kind});
  }
}

Picoseconds extra_time_of(const QueuedLaunch& queued) {
  constexpr std::uint64_t kHour = 3'600'000'000'000;
  if (queued.kernel->functions.nanoseconds == nullptr) return 0;
  const std::vector<const void*> arguments = queued.arguments.pointers();
  const std::uint64_t asked =
      queued.kernel->functions.nanoseconds(&queued.launch, arguments.data());
  return static_cast<Picoseconds>(std::min(asked, kHour)) * kPicosecondsPerNanosecond;
}

CUDA_KERNEL_NODE_PARAMS_v2 params_of(const LaunchRequest& request) {
  CUDA_KERNEL_NODE_PARAMS_v2 params{};
  const auto& [grid, block, shared] = request.launch;
  params.func = request.function;
  params.gridDimX = grid[0];
  params.gridDimY = grid[1];
  params.gridDimZ = grid[2];
  params.blockDimX = block[0];
  params.blockDimY = block[1];
  params.blockDimZ = block[2];
  params.sharedMemBytes = static_cast<unsigned>(shared);
  return params;
}

}  // namespace

CUresult prepare_launch(Call& call, Symbol symbol, const LaunchRequest& request,
                        std::uint64_t& context, Submission& out) {
  const FunctionEntry* const function =
      find_function(call.machine, context, value_of(request.function));
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  context = function->context;
  if (const CUresult shape = check_shape(call, *function, request); shape != CUDA_SUCCESS)
    return shape;
  const auto kernel = Library::get().kernels().find(function->name);
  if (kernel == nullptr) {
    say_once(
        fmt::format("kernel {} was launched, but no host function is registered for it: "
                    "ferry_sim_register_kernel (include/ferry/sim.h)",
                    function->name));
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  const auto queued = std::make_shared<QueuedLaunch>(
      QueuedLaunch{kernel, request.launch, KernelArguments(*kernel), {}});
  const CUresult taken = take_arguments(request, *kernel, queued->arguments);
  if (taken != CUDA_SUCCESS) return taken;
  queued->ranges = ranges_of(*kernel, queued->launch, queued->arguments);
  out.symbol = symbol;
  add_touches_of(queued->ranges, out.touches);
  out.extra_time = extra_time_of(*queued);
  Machine& machine = call.machine;
  out.work = [&machine, queued](int device) { return run_launch(machine, device, *queued); };
  KernelNode node{params_of(request), {queued, &queued->arguments}, {}};
  for (const void* const argument : queued->arguments.pointers())
    node.pointers.push_back(const_cast<void*>(argument));
  out.node = std::move(node);
  return CUDA_SUCCESS;
}

namespace {

CUresult launch(Symbol symbol, const LaunchRequest& request) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    StreamUse use;
    if (const CUresult found = find_stream(call, request.stream, use); found != CUDA_SUCCESS)
      return found;
    Submission submission;
    submission.stream = request.stream;
    std::uint64_t context = call.context->handle;
    const CUresult prepared = prepare_launch(call, symbol, request, context, submission);
    if (prepared != CUDA_SUCCESS) return prepared;
    if (use.context->handle != context) return CUDA_ERROR_INVALID_HANDLE;
    return submit_on(call, use, std::move(submission));
  });
}

// Those that change how a launch is ordered would have to be kept; the others only make it faster.
// A kernel that is let begin before the one ahead of it has ended waits for that one itself.
bool is_known(const CUlaunchAttribute& attribute) {
  switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return true;
    default:
      return false;
  }
}

CUresult launch_with_attributes(Symbol symbol, const CUlaunchConfig* config, CUfunction function,
                                CUstream stream, void** arguments, void** extra) {
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    if (!is_known(config->attrs[i])) return CUDA_ERROR_NOT_SUPPORTED;
  }
  const ferry_sim_launch shape{{config->gridDimX, config->gridDimY, config->gridDimZ},
                               {config->blockDimX, config->blockDimY, config->blockDimZ},
                               config->sharedMemBytes};
  return launch(symbol, {function, shape, stream, arguments, extra});
}

}  // namespace

}  // namespace ferry::sim

using ferry::sim::launch;
using ferry::sim::Symbol;

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                        unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                        unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                        void** kernelParams, void** extra) {
  return launch(
      Symbol::cuLaunchKernel,
      {f,
       {{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes},
       hStream,
       kernelParams,
       extra});
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                   unsigned int gridDimZ, unsigned int blockDimX,
                                   unsigned int blockDimY, unsigned int blockDimZ,
                                   unsigned int sharedMemBytes, CUstream hStream,
                                   void** kernelParams) {
  return launch(
      Symbol::cuLaunchCooperativeKernel,
      {f,
       {{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes},
       hStream,
       kernelParams,
       nullptr});
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** kernelParams,
                          void** extra) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return ferry::sim::launch_with_attributes(Symbol::cuLaunchKernelEx, config, f, config->hStream,
                                            kernelParams, extra);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction f, void** kernelParams,
                               void** extra) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUstream stream = config->hStream == nullptr ? CU_STREAM_PER_THREAD : config->hStream;
  return ferry::sim::launch_with_attributes(Symbol::cuLaunchKernelEx_ptsz, config, f, stream,
                                            kernelParams, extra);
}
