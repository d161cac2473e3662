// SPDX-License-Identifier: Apache-2.0
#include "sim/exports/graph_work.hpp"

#include "sim/exports/copies.hpp"
#include "sim/exports/launches.hpp"

namespace ferry::sim {

namespace {

// The context that a node is to run in: the current one where none is named.
CUresult find_context(Call& call, CUcontext context, NodeWork& out) {
  if (context == nullptr && call.context == nullptr) return call.no_context;
  const Context* const found =
      context == nullptr ? call.context : call.machine.contexts.find(value_of(context));
  if (found == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  out.context = found->handle;
  return static_cast<CUresult>(found->streams->fault);
}

// On which device an operand lies, or that it is the host's.
int place_of(Machine& machine, std::uint64_t address) {
  constexpr int kHost = -1;
  constexpr int kGone = -2;
  if (!machine.addresses.contains(address)) return kHost;
  const Mapping* const mapping = machine.pages.find(address);
  return mapping == nullptr ? kGone : mapping->block->device;
}

}  // namespace

CUDA_KERNEL_NODE_PARAMS_v2 to_v2(const CUDA_KERNEL_NODE_PARAMS_v1& params) {
  return {params.func,         params.gridDimX,  params.gridDimY,  params.gridDimZ,
          params.blockDimX,    params.blockDimY, params.blockDimZ, params.sharedMemBytes,
          params.kernelParams, params.extra,     nullptr,          nullptr};
}

CUresult make_work(Call& call, const CUDA_KERNEL_NODE_PARAMS_v2& params, NodeWork& out) {
  // A function has its context; a kernel is one in a context alone.
  const bool has_context = call.machine.functions.find(value_of(params.func)) != nullptr;
  const CUcontext named = params.func == nullptr ? params.ctx : nullptr;
  if (!has_context && named == nullptr && call.context == nullptr) return call.no_context;
  if (named != nullptr) {
    if (call.machine.contexts.find(value_of(named)) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    out.context = value_of(named);
  } else if (call.context != nullptr) {
    out.context = call.context->handle;
  }
  LaunchRequest request;
  request.function =
      params.func != nullptr ? params.func : reinterpret_cast<CUfunction>(params.kern);
  request.launch = {{params.gridDimX, params.gridDimY, params.gridDimZ},
                    {params.blockDimX, params.blockDimY, params.blockDimZ},
                    params.sharedMemBytes};
  request.arguments = params.kernelParams;
  request.extra = params.extra;
  const CUresult prepared =
      prepare_launch(call, Symbol::cuLaunchKernel, request, out.context, out.work);
  if (prepared != CUDA_SUCCESS || params.func != nullptr) return prepared;
  CUDA_KERNEL_NODE_PARAMS_v2& told = std::get<KernelNode>(*out.work.node).params;
  told.func = nullptr;
  told.kern = params.kern;
  told.ctx = to_handle<CUcontext>(out.context);
  return CUDA_SUCCESS;
}

CUresult make_work(Call& call, const CUDA_MEMCPY3D& params, CUcontext context, NodeWork& out) {
  const CUresult found = find_context(call, context, out);
  return found == CUDA_SUCCESS ? prepare_copy_3d(call, Symbol::cuMemcpy3DAsync_v2, params, out.work)
                               : found;
}

CUresult make_work(Call& call, const CUDA_MEMSET_NODE_PARAMS& params, CUcontext context,
                   NodeWork& out) {
  if (const CUresult found = find_context(call, context, out); found != CUDA_SUCCESS) return found;
  if (params.elementSize != 1 && params.elementSize != 2 && params.elementSize != 4)
    return CUDA_ERROR_INVALID_VALUE;
  if (params.width == 0 || params.height == 0) return CUDA_ERROR_INVALID_VALUE;
  return prepare_fill(
      call, Symbol::cuMemsetD2D8Async,
      {{params.dst, params.pitch}, params.value, params.elementSize, params.width, params.height},
      out.work);
}

CUresult make_work(const CUDA_HOST_NODE_PARAMS& params, NodeWork& out) {
  if (params.fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
  out.work.node = HostNode{params.fn, params.userData};
  return CUDA_SUCCESS;
}

CUresult make_record(Call& call, CUevent event, NodeWork& out) {
  if (find_event(call, event) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  out.work.node = RecordNode{event};
  return CUDA_SUCCESS;
}

CUresult make_wait(Call& call, CUevent event, NodeWork& out) {
  if (find_event(call, event) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  out.work.node = WaitNode{event};
  return CUDA_SUCCESS;
}

CUresult make_child(Call& call, CUgraph graph, NodeWork& out) {
  const std::shared_ptr<Graph> child = call.machine.graphs.find(value_of(graph));
  if (child == nullptr) return CUDA_ERROR_INVALID_VALUE;
  out.work.node = ChildNode{call.machine.graphs.clone(*child, Graph::Owner::node)};
  return CUDA_SUCCESS;
}

CUresult make_work(Call& call, const CUgraphNodeParams& params, NodeWork& out) {
  switch (params.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      const CUDA_KERNEL_NODE_PARAMS_v3& its = params.kernel;
      return make_work(call,
                       CUDA_KERNEL_NODE_PARAMS_v2{its.func, its.gridDimX, its.gridDimY,
                                                  its.gridDimZ, its.blockDimX, its.blockDimY,
                                                  its.blockDimZ, its.sharedMemBytes,
                                                  its.kernelParams, its.extra, its.kern, its.ctx},
                       out);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      if (params.memcpy.flags != 0) return CUDA_ERROR_INVALID_VALUE;
      return make_work(call, params.memcpy.copyParams, params.memcpy.copyCtx, out);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const CUDA_MEMSET_NODE_PARAMS_v2& its = params.memset;
      return make_work(call,
                       CUDA_MEMSET_NODE_PARAMS{its.dst, its.pitch, its.value, its.elementSize,
                                               its.width, its.height},
                       its.ctx, out);
    }
    case CU_GRAPH_NODE_TYPE_HOST:
      return make_work(CUDA_HOST_NODE_PARAMS{params.host.fn, params.host.userData}, out);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return make_record(call, params.eventRecord.event, out);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return make_wait(call, params.eventWait.event, out);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      out.work.node = EmptyNode{};
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_GRAPH:
      if (params.graph.ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE)
        return CUDA_ERROR_NOT_SUPPORTED;
      return make_child(call, params.graph.graph, out);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

bool same_places(Machine& machine, const Submission& one, const Submission& other) {
  const NodeParams& params = *one.node;
  if (!std::holds_alternative<CopyNode>(params) && !std::holds_alternative<FillNode>(params))
    return true;
  if (one.touches.empty() || other.touches.empty())
    return one.touches.empty() == other.touches.empty();
  return place_of(machine, one.touches.front().address) ==
             place_of(machine, other.touches.front().address) &&
         place_of(machine, one.touches.back().address) ==
             place_of(machine, other.touches.back().address);
}

}  // namespace ferry::sim
