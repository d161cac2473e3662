// SPDX-License-Identifier: Apache-2.0
// Exported: the devices.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "sim/machine/library.hpp"
#include "sim/words/visible_devices.hpp"

using ferry::sim::Call;
using ferry::sim::Library;
using ferry::sim::Need;
using ferry::sim::Symbol;

namespace {

std::string name_of(ferry::sim::Machine& machine) {
  return machine.profile() == nullptr ? ferry::sim::kDeviceName : machine.profile()->device_name;
}

// Runs body(Machine&, physical index) when `dev` is a device.
template <typename Body>
CUresult with_device(Symbol symbol, CUdevice dev, Body&& body) {
  return Library::get().call(symbol, Need::initialised, [&](Call& call) {
    if (!call.machine.has_device(dev)) return CUDA_ERROR_INVALID_DEVICE;
    return body(call.machine, call.machine.physical_index(dev));
  });
}

// The bus of "domain:bus:device.function", "domain:bus:device" or "bus:device.function"; one that
// no device here has where the other parts are not zero. Nothing where it is none of these.
std::optional<unsigned> bus_number(const char* text) {
  constexpr unsigned kNone = ~0U;
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  int end = 0;
  const auto whole = [&] { return end > 0 && text[end] == '\0'; };
  if (std::sscanf(text, "%x:%x:%x.%x%n", &domain, &bus, &device, &function, &end) != 4 ||
      !whole()) {
    end = function = 0;
    if (std::sscanf(text, "%x:%x:%x%n", &domain, &bus, &device, &end) != 3 || !whole()) {
      end = 0;
      domain = 0;
      if (std::sscanf(text, "%x:%x.%x%n", &bus, &device, &function, &end) != 3 || !whole())
        return std::nullopt;
    }
  }
  return domain == 0 && device == 0 && function == 0 ? bus : kNone;
}

// Copies a text into a caller's buffer, cut to its length.
CUresult give_string(const std::string& text, char* out, int length) {
  if (out == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  const std::size_t copied = std::min(text.size(), static_cast<std::size_t>(length) - 1);
  std::memcpy(out, text.data(), copied);
  out[copied] = '\0';
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuDeviceGetCount(int* count) {
  return Library::get().call(Symbol::cuDeviceGetCount, Need::initialised, [&](Call& call) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = call.machine.devices();
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return with_device(Symbol::cuDeviceGet, ordinal, [&](auto&, int) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int len, CUdevice dev) {
  return with_device(Symbol::cuDeviceGetName, dev,
                     [&](auto& machine, int) { return give_string(name_of(machine), name, len); });
}

CUresult cuDeviceGetAttribute(int* pi, CUdevice_attribute attrib, CUdevice dev) {
  return with_device(Symbol::cuDeviceGetAttribute, dev, [&](auto& machine, int) {
    const std::optional<int> value = machine.attribute(attrib, dev);
    if (pi == nullptr || !value) return CUDA_ERROR_INVALID_VALUE;
    *pi = *value;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice dev) {
  return with_device(Symbol::cuDeviceComputeCapability, dev, [&](auto& machine, int) {
    if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *major = *machine.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, dev);
    *minor = *machine.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, dev);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetProperties(CUdevprop* prop, CUdevice dev) {
  return with_device(Symbol::cuDeviceGetProperties, dev, [&](auto& machine, int) {
    if (prop == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto fact = [&](CUdevice_attribute attribute) {
      return *machine.attribute(attribute, dev);
    };
    *prop = {fact(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
             {fact(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X), fact(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
              fact(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)},
             {fact(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), fact(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
              fact(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)},
             fact(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
             fact(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
             fact(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
             fact(CU_DEVICE_ATTRIBUTE_MAX_PITCH),
             fact(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
             fact(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
             fact(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)};
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice dev) {
  return with_device(Symbol::cuDeviceTotalMem_v2, dev, [&](auto& machine, int) {
    if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *bytes = machine.physical.capacity().count;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice dev) {
  return with_device(Symbol::cuDeviceGetUuid_v2, dev, [&](auto&, int physical) {
    if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const ferry::sim::Uuid bytes = ferry::sim::device_uuid(physical);
    static_assert(sizeof(uuid->bytes) == sizeof(bytes));
    std::memcpy(uuid->bytes, bytes.data(), bytes.size());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* dev, const char* pciBusId) {
  return Library::get().call(Symbol::cuDeviceGetByPCIBusId, Need::initialised, [&](Call& call) {
    if (dev == nullptr || pciBusId == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::optional<unsigned> bus = bus_number(pciBusId);
    if (!bus) return CUDA_ERROR_INVALID_VALUE;
    const std::vector<int>& visible = call.machine.visible;
    for (std::size_t i = 0; i < visible.size(); ++i) {
      if (static_cast<unsigned>(ferry::sim::pci_bus_number(visible[i])) != *bus) continue;
      *dev = static_cast<CUdevice>(i);
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult cuDeviceGetPCIBusId(char* pciBusId, int len, CUdevice dev) {
  return with_device(Symbol::cuDeviceGetPCIBusId, dev, [&](auto&, int physical) {
    return give_string(ferry::sim::pci_bus_id(physical), pciBusId, len);
  });
}
