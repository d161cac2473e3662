// SPDX-License-Identifier: Apache-2.0
// Exported: access of contexts to the memory of others.
#include "sim/machine/library.hpp"
#include "sim/machine/peer_access.hpp"

using ferry::sim::Call;
using ferry::sim::Context;
using ferry::sim::Library;
using ferry::sim::Need;
using ferry::sim::Symbol;

namespace {

// Runs body(Call&, Context&) with a current context and a peer.
template <typename Body>
CUresult with_peer(Symbol symbol, CUcontext handle, Body&& body) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    Context* const peer = call.machine.contexts.find(ferry::sim::value_of(handle));
    return peer == nullptr ? CUDA_ERROR_INVALID_CONTEXT : body(call, *peer);
  });
}

}  // namespace

CUresult cuDeviceCanAccessPeer(int* canAccessPeer, CUdevice dev, CUdevice peerDev) {
  return Library::get().call(Symbol::cuDeviceCanAccessPeer, Need::initialised, [&](Call& call) {
    if (!call.machine.has_device(dev) || !call.machine.has_device(peerDev))
      return CUDA_ERROR_INVALID_DEVICE;
    if (canAccessPeer == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *canAccessPeer = ferry::sim::can_access_peer(dev, peerDev) ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attrib, CUdevice srcDevice,
                                 CUdevice dstDevice) {
  return Library::get().call(Symbol::cuDeviceGetP2PAttribute, Need::initialised, [&](Call& call) {
    if (!call.machine.has_device(srcDevice) || !call.machine.has_device(dstDevice) ||
        srcDevice == dstDevice) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    switch (attrib) {
      case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
        *value = 1;
        return CUDA_SUCCESS;
      case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
      case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
      case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
      case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
        *value = 0;
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags) {
  return with_peer(Symbol::cuCtxEnablePeerAccess, peerContext, [&](Call& call, Context& peer) {
    if (Flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return ferry::sim::enable_peer_access(call.machine, *call.context, peer);
  });
}

CUresult cuCtxDisablePeerAccess(CUcontext peerContext) {
  return with_peer(Symbol::cuCtxDisablePeerAccess, peerContext, [](Call& call, Context& peer) {
    return ferry::sim::disable_peer_access(call.machine, *call.context, peer);
  });
}
