// SPDX-License-Identifier: Apache-2.0
#include "driver/device.hpp"

#include <iterator>

#include "driver/cuda_status.hpp"
#include "driver/cuda_table.hpp"

namespace ferry {

namespace {

CUstream native(StreamRef stream) {
  return static_cast<CUstream>(stream.native());
}
CUevent native(EventHandle event) {
  return static_cast<CUevent>(event.value);
}

// What every chunk is: fixed to one device, with no handle to share it by.
CUmemAllocationProp chunk_properties(DeviceId device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device.ordinal};
  return properties;
}

}  // namespace

// Calls a function of the driver with the primary context current, and restores the caller's.
template <typename Function, typename... Arguments>
Status Device::call(const char* site, Function function, Arguments... arguments) const {
  const CudaTable& cuda = driver_.table();
  FERRY_TRY(
      cuda_status(cuda.cuCtxPushCurrent(static_cast<CUcontext>(context_)), "cuCtxPushCurrent"));
  const CUresult result = function(arguments...);
  CUcontext popped = nullptr;
  (void)cuda.cuCtxPopCurrent(&popped);
  return cuda_status(result, site);
}

Result<std::unique_ptr<Device>> Device::open(const Driver& driver, DeviceId id) {
  const Result<DeviceInfo> info = driver.device_info(id);
  if (!info) return info.error();
  if (!info->supports_virtual_memory) return Status{Code::not_supported, "Device::open"};

  std::unique_ptr<Device> device(new Device(driver, id));
  const CudaTable& cuda = driver.table();
  FERRY_TRY(cuda_status(cuda.cuDeviceGet(&device->device_, id.ordinal), "cuDeviceGet"));
  const CUmemAllocationProp properties = chunk_properties(id);
  FERRY_TRY(cuda_status(cuda.cuMemGetAllocationGranularity(&device->granularity_.count, &properties,
                                                           CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                        "cuMemGetAllocationGranularity"));
  CUcontext context = nullptr;
  FERRY_TRY(cuda_status(cuda.cuDevicePrimaryCtxRetain(&context, device->device_),
                        "cuDevicePrimaryCtxRetain"));
  device->context_ = context;
  return device;
}

Device::~Device() {
  // At process exit the driver may be gone; it then says so, and there is nothing left to release.
  if (context_ != nullptr) (void)driver_.table().cuDevicePrimaryCtxRelease(device_);
}

Result<MemoryInfo> Device::memory_info() {
  MemoryInfo info;
  FERRY_TRY(
      call("cuMemGetInfo", driver_.table().cuMemGetInfo, &info.free.count, &info.total.count));
  return info;
}

// --- Virtual memory ---

Result<DeviceAddress> Device::reserve(Bytes size) {
  counters_.count(DriverCall::reserve, size);
  CUdeviceptr address = 0;
  FERRY_TRY(call("cuMemAddressReserve", driver_.table().cuMemAddressReserve, &address, size.count,
                 std::size_t{0}, CUdeviceptr{0}, 0ULL));
  return DeviceAddress{address};
}

Status Device::free_reservation(DeviceAddress address, Bytes size) {
  counters_.count(DriverCall::reserve);
  return call("cuMemAddressFree", driver_.table().cuMemAddressFree, address.value, size.count);
}

Result<PhysicalHandle> Device::create(Bytes size) {
  counters_.count(DriverCall::create, size);
  const CUmemAllocationProp properties = chunk_properties(id_);
  CUmemGenericAllocationHandle handle = 0;
  FERRY_TRY(
      call("cuMemCreate", driver_.table().cuMemCreate, &handle, size.count, &properties, 0ULL));
  return PhysicalHandle{handle};
}

Status Device::release(PhysicalHandle handle, Bytes size) {
  counters_.count(DriverCall::release, size);
  return call("cuMemRelease", driver_.table().cuMemRelease, handle.value);
}

Status Device::map(DeviceAddress address, Bytes size, PhysicalHandle handle) {
  counters_.count(DriverCall::map, size);
  return call("cuMemMap", driver_.table().cuMemMap, address.value, size.count, std::size_t{0},
              handle.value, 0ULL);
}

bool Device::can_be_reached_by(DeviceId peer) {
  int reachable = 0;
  return call("cuDeviceCanAccessPeer", driver_.table().cuDeviceCanAccessPeer, &reachable,
              peer.ordinal, id_.ordinal)
             .ok() &&
         reachable != 0;
}

Status Device::set_access(DeviceAddress address, Bytes size, std::uint64_t mappings,
                          const std::vector<DeviceId>& peers) {
  counters_.count(DriverCall::set_access, size, mappings);
  std::vector<CUmemAccessDesc> access;
  const auto open_to = [&](DeviceId device) {
    access.push_back({
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device.ordinal},
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    });
  };
  open_to(id_);
  for (const DeviceId peer : peers) open_to(peer);
  return call("cuMemSetAccess", driver_.table().cuMemSetAccess, address.value, size.count,
              access.data(), access.size());
}

Status Device::unmap(DeviceAddress address, Bytes size, std::uint64_t mappings) {
  counters_.count(DriverCall::unmap, size, mappings);
  return call("cuMemUnmap", driver_.table().cuMemUnmap, address.value, size.count);
}

// --- Plain memory ---

Result<DeviceAddress> Device::alloc(Bytes size) {
  counters_.count(DriverCall::alloc, size);
  CUdeviceptr address = 0;
  FERRY_TRY(call("cuMemAlloc", driver_.table().cuMemAlloc, &address, size.count));
  return DeviceAddress{address};
}

Status Device::free(DeviceAddress address) {
  counters_.count(DriverCall::free);
  return call("cuMemFree", driver_.table().cuMemFree, address.value);
}

// --- Pinned host memory ---

Result<void*> Device::host_alloc(Bytes size) {
  counters_.count(DriverCall::host_alloc, size);
  void* pointer = nullptr;
  FERRY_TRY(call("cuMemHostAlloc", driver_.table().cuMemHostAlloc, &pointer, size.count,
                 static_cast<unsigned>(CU_MEMHOSTALLOC_PORTABLE)));
  return pointer;
}

Status Device::host_free(void* pointer) {
  counters_.count(DriverCall::host_alloc);
  return call("cuMemFreeHost", driver_.table().cuMemFreeHost, pointer);
}

// --- Copies ---

Result<MemoryRange> Device::describe(std::uint64_t address) {
  unsigned type = 0;
  CUdeviceptr start = 0;
  std::size_t size = 0;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                      CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                      CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  void* values[] = {&type, &start, &size};
  FERRY_TRY(call("cuPointerGetAttributes", driver_.table().cuPointerGetAttributes,
                 static_cast<unsigned>(std::size(attributes)), attributes, values,
                 CUdeviceptr{address}));
  const std::uint64_t end = start + size;
  if (type == CU_MEMORYTYPE_HOST) return MemoryRange{MemoryKind::pinned, end, 0};
  if (type != CU_MEMORYTYPE_DEVICE) {
    // Of an address without memory the driver knows a range only where it has been reserved.
    return size > 0 ? MemoryRange{MemoryKind::reserved, end, 0} : MemoryRange{};
  }
  // The attributes tell the reservation, not the mapping.
  CUdeviceptr base = 0;
  std::size_t mapped = 0;
  FERRY_TRY(call("cuMemGetAddressRange", driver_.table().cuMemGetAddressRange, &base, &mapped,
                 CUdeviceptr{address}));
  return MemoryRange{MemoryKind::device, end, base + mapped};
}

Status Device::copy(std::uint64_t destination, std::uint64_t source, Bytes size, StreamRef stream) {
  return call("cuMemcpyAsync", driver_.table().cuMemcpyAsync, CUdeviceptr{destination},
              CUdeviceptr{source}, size.count, native(stream));
}

// --- Order ---

Result<StreamRef> Device::create_stream() {
  CUstream stream = nullptr;
  FERRY_TRY(call("cuStreamCreate", driver_.table().cuStreamCreate, &stream,
                 static_cast<unsigned>(CU_STREAM_NON_BLOCKING)));
  return StreamRef(stream);
}

Status Device::destroy_stream(StreamRef stream) {
  return call("cuStreamDestroy", driver_.table().cuStreamDestroy, native(stream));
}

Result<EventHandle> Device::create_event() {
  CUevent event = nullptr;
  FERRY_TRY(call("cuEventCreate", driver_.table().cuEventCreate, &event,
                 static_cast<unsigned>(CU_EVENT_DISABLE_TIMING)));
  return EventHandle{event};
}

Status Device::destroy_event(EventHandle event) {
  return call("cuEventDestroy", driver_.table().cuEventDestroy, native(event));
}

Status Device::record(EventHandle event, StreamRef stream) {
  counters_.count_event();
  return call("cuEventRecord", driver_.table().cuEventRecord, native(event), native(stream));
}

Status Device::record_context(EventHandle event) {
  const auto function = driver_.table().cuCtxRecordEvent;
  if (function == nullptr) return Status{Code::not_supported, "cuCtxRecordEvent"};
  counters_.count_event();
  return call("cuCtxRecordEvent", function, static_cast<CUcontext>(context_), native(event));
}

Result<bool> Device::query(EventHandle event) {
  counters_.count_event();
  const Status status = call("cuEventQuery", driver_.table().cuEventQuery, native(event));
  if (status.code() == Code::not_ready) return false;
  FERRY_TRY(status);
  return true;
}

Status Device::wait(StreamRef stream, EventHandle event) {
  counters_.count_event();
  return call("cuStreamWaitEvent", driver_.table().cuStreamWaitEvent, native(stream), native(event),
              static_cast<unsigned>(CU_EVENT_WAIT_DEFAULT));
}

Status Device::synchronize(EventHandle event) {
  counters_.count(DriverCall::synchronize);
  return call("cuEventSynchronize", driver_.table().cuEventSynchronize, native(event));
}

Status Device::synchronize(StreamRef stream) {
  counters_.count(DriverCall::synchronize);
  return call("cuStreamSynchronize", driver_.table().cuStreamSynchronize, native(stream));
}

Status Device::synchronize() {
  counters_.count(DriverCall::synchronize);
  return call("cuCtxSynchronize", driver_.table().cuCtxSynchronize);
}

Result<bool> Device::owns(StreamRef stream) {
  CUcontext owner = nullptr;
  FERRY_TRY(call("cuStreamGetCtx", driver_.table().cuStreamGetCtx, native(stream), &owner));
  return owner == static_cast<CUcontext>(context_);
}

Result<bool> Device::is_capturing(StreamRef stream) {
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  FERRY_TRY(
      call("cuStreamIsCapturing", driver_.table().cuStreamIsCapturing, native(stream), &capture));
  return capture != CU_STREAM_CAPTURE_STATUS_NONE;
}

Status refuse_capturing(Device& device, StreamRef stream) {
  const Result<bool> capturing = device.is_capturing(stream);
  if (!capturing) return capturing.error();
  return *capturing ? Status(Code::capture_active, "the stream is being captured") : Status();
}

// --- Marks ---

Status Device::fill_words(DeviceAddress address, Bytes pitch, std::uint64_t rows,
                          std::uint32_t value, StreamRef stream) {
  if (rows == 0) return Status{};
  if (rows == 1 || pitch == Bytes{sizeof value}) {
    return call("cuMemsetD32Async", driver_.table().cuMemsetD32Async, address.value, value, rows,
                native(stream));
  }
  return call("cuMemsetD2D32Async", driver_.table().cuMemsetD2D32Async, address.value, pitch.count,
              value, std::size_t{1}, rows, native(stream));
}

Status Device::read_words(std::uint32_t* host, DeviceAddress address, Bytes pitch,
                          std::uint64_t rows, StreamRef stream) {
  if (rows == 0) return Status{};
  if (rows == 1 || pitch == Bytes{sizeof *host}) {
    return call("cuMemcpyDtoHAsync", driver_.table().cuMemcpyDtoHAsync, static_cast<void*>(host),
                address.value, rows * sizeof *host, native(stream));
  }
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = address.value;
  copy.srcPitch = pitch.count;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = host;
  copy.dstPitch = sizeof *host;
  copy.WidthInBytes = sizeof *host;
  copy.Height = rows;
  return call("cuMemcpy2DAsync", driver_.table().cuMemcpy2DAsync, &copy, native(stream));
}

}  // namespace ferry
