/* SPDX-License-Identifier: Apache-2.0 */
/* NVML, as far as the driver's stand-in knows the answers. */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "nvml_devices.h"

enum {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNotFound = 6,
  kInsufficientSize = 7,
  kDriverNotLoaded = 9
};

static int starts;

EXPORTED int32_t nvmlInit_v2(void) {
  struct device* devices;
  if (nvml_devices(&devices) < 0) {
    return kDriverNotLoaded;
  }
  __atomic_add_fetch(&starts, 1, __ATOMIC_RELAXED);
  return kSuccess;
}
EXPORTED int32_t nvmlInit(void) {
  return nvmlInit_v2();
}
EXPORTED int32_t nvmlInitWithFlags(uint32_t flags) {
  (void)flags;
  return nvmlInit_v2();
}

EXPORTED int32_t nvmlShutdown(void) {
  int before = __atomic_load_n(&starts, __ATOMIC_RELAXED);
  while (before > 0 && !__atomic_compare_exchange_n(&starts, &before, before - 1, 0,
                                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return before > 0 ? kSuccess : kUninitialized;
}

EXPORTED const char* nvmlErrorString(int32_t status) {
  switch (status) {
    case kSuccess:
      return "Success";
    case kUninitialized:
      return "Uninitialized";
    case kInvalidArgument:
      return "Invalid Argument";
    case kNotSupported:
      return "Not Supported";
    case kNotFound:
      return "Not Found";
    case kInsufficientSize:
      return "Insufficient Size";
    case kDriverNotLoaded:
      return "Driver Not Loaded";
    default:
      return "Unknown Error";
  }
}

/* The devices, where the library is initialised; otherwise what to answer. */
static int32_t begin(struct device** devices, int* count) {
  if (__atomic_load_n(&starts, __ATOMIC_RELAXED) == 0) {
    return kUninitialized;
  }
  *count = nvml_devices(devices);
  return *count < 0 ? kDriverNotLoaded : kSuccess;
}

static int32_t check(const struct device* device, const void* output) {
  struct device* devices;
  int count = 0;
  const int32_t status = begin(&devices, &count);
  if (status != kSuccess) {
    return status;
  }
  return output != NULL && device >= devices && device < devices + count ? kSuccess
                                                                         : kInvalidArgument;
}

EXPORTED int32_t nvmlDeviceGetCount_v2(uint32_t* count) {
  struct device* devices;
  int found = 0;
  const int32_t status = begin(&devices, &found);
  if (status == kSuccess && count == NULL) {
    return kInvalidArgument;
  }
  if (status == kSuccess) {
    *count = (uint32_t)found;
  }
  return status;
}
EXPORTED int32_t nvmlDeviceGetCount(uint32_t* count) {
  return nvmlDeviceGetCount_v2(count);
}

EXPORTED int32_t nvmlDeviceGetHandleByIndex_v2(uint32_t index, struct device** device) {
  struct device* devices;
  int count = 0;
  const int32_t status = begin(&devices, &count);
  if (status != kSuccess) {
    return status;
  }
  if (device == NULL || index >= (uint32_t)count) {
    return kInvalidArgument;
  }
  *device = &devices[index];
  return kSuccess;
}
EXPORTED int32_t nvmlDeviceGetHandleByIndex(uint32_t index, struct device** device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}

static void write_uuid(const struct device* device, char text[48]) {
  char* out = text + sprintf(text, "GPU-");
  for (int i = 0; i < 16; ++i) {
    out += sprintf(out, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", device->uuid[i]);
  }
}

EXPORTED int32_t nvmlDeviceGetHandleByUUID(const char* uuid, struct device** device) {
  struct device* devices;
  int count = 0;
  const int32_t status = begin(&devices, &count);
  if (status != kSuccess || uuid == NULL || device == NULL) {
    return status != kSuccess ? status : kInvalidArgument;
  }
  for (int i = 0; i < count; ++i) {
    char text[48];
    write_uuid(&devices[i], text);
    if (strcmp(text, uuid) == 0) {
      *device = &devices[i];
      return kSuccess;
    }
  }
  return kNotFound;
}

struct address {
  unsigned domain, bus, device, function;
};

static int parse_address(const char* text, struct address* address) {
  address->function = 0;
  return text != NULL && sscanf(text, "%x:%x:%x.%x", &address->domain, &address->bus,
                                &address->device, &address->function) >= 3;
}

EXPORTED int32_t nvmlDeviceGetHandleByPciBusId_v2(const char* bus, struct device** device) {
  struct device* devices;
  int count = 0;
  struct address wanted, one;
  const int32_t status = begin(&devices, &count);
  if (status != kSuccess || device == NULL || !parse_address(bus, &wanted)) {
    return status != kSuccess ? status : kInvalidArgument;
  }
  for (int i = 0; i < count; ++i) {
    if (parse_address(devices[i].bus, &one) && one.domain == wanted.domain &&
        one.bus == wanted.bus && one.device == wanted.device) {
      *device = &devices[i];
      return kSuccess;
    }
  }
  return kNotFound;
}
EXPORTED int32_t nvmlDeviceGetHandleByPciBusId(const char* bus, struct device** device) {
  return nvmlDeviceGetHandleByPciBusId_v2(bus, device);
}

static int32_t give_text(const char* text, char* out, uint32_t bytes) {
  if (strlen(text) >= bytes) {
    return kInsufficientSize;
  }
  strcpy(out, text);
  return kSuccess;
}

EXPORTED int32_t nvmlDeviceGetUUID(struct device* device, char* out, uint32_t bytes) {
  const int32_t status = check(device, out);
  char text[48];
  if (status != kSuccess) {
    return status;
  }
  write_uuid(device, text);
  return give_text(text, out, bytes);
}

EXPORTED int32_t nvmlDeviceGetName(struct device* device, char* out, uint32_t bytes) {
  const int32_t status = check(device, out);
  return status == kSuccess ? give_text(device->name, out, bytes) : status;
}

EXPORTED int32_t nvmlDeviceGetIndex(struct device* device, uint32_t* index) {
  struct device* devices;
  const int32_t status = check(device, index);
  if (status == kSuccess) {
    nvml_devices(&devices);
    *index = (uint32_t)(device - devices);
  }
  return status;
}

EXPORTED int32_t nvmlDeviceGetCudaComputeCapability(struct device* device, int32_t* major,
                                                    int32_t* minor) {
  const int32_t status = check(device, major);
  if (status != kSuccess || minor == NULL) {
    return status != kSuccess ? status : kInvalidArgument;
  }
  *major = device->major;
  *minor = device->minor;
  return kSuccess;
}

struct pci_info {
  char legacy_bus[16];
  uint32_t domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

EXPORTED int32_t nvmlDeviceGetPciInfo_v3(struct device* device, struct pci_info* info) {
  const int32_t status = check(device, info);
  struct address address;
  if (status != kSuccess || !parse_address(device->bus, &address)) {
    return status != kSuccess ? status : kNotSupported;
  }
  memset(info, 0, sizeof *info);
  info->domain = address.domain;
  info->bus = address.bus;
  info->device = address.device;
  snprintf(info->legacy_bus, sizeof info->legacy_bus, "%04X:%02X:%02X.%X", address.domain & 0xffff,
           address.bus & 0xff, address.device & 0xff, address.function & 0xf);
  snprintf(info->bus_id, sizeof info->bus_id, "%08X:%02X:%02X.%X", address.domain,
           address.bus & 0xff, address.device & 0xff, address.function & 0xf);
  return kSuccess;
}
EXPORTED int32_t nvmlDeviceGetPciInfo(struct device* device, struct pci_info* info) {
  return nvmlDeviceGetPciInfo_v3(device, info);
}

struct memory {
  uint64_t total, free, used;
};

/* What other processes use is not known. */
EXPORTED int32_t nvmlDeviceGetMemoryInfo(struct device* device, struct memory* memory) {
  const int32_t status = check(device, memory);
  if (status != kSuccess) {
    return status;
  }
  size_t used;
  nvml_bytes_in_use(device, &used);
  memory->total = device->memory;
  memory->used = used;
  memory->free = device->memory - used;
  return kSuccess;
}

/* One process at most: this one. `first` has its number and bytes at these places. */
static int32_t processes(struct device* device, uint32_t* count, char* list, size_t entry) {
  const int32_t status = check(device, count);
  if (status != kSuccess) {
    return status;
  }
  size_t used;
  const uint32_t room = *count;
  *count = (uint32_t)nvml_bytes_in_use(device, &used);
  if (*count > room || (*count > 0 && list == NULL)) {
    return kInsufficientSize;
  }
  if (*count > 0) {
    const uint32_t process = (uint32_t)getpid();
    const uint64_t bytes = used;
    memset(list, 0, entry);
    memcpy(list, &process, sizeof process);
    memcpy(list + 8, &bytes, sizeof bytes);
    if (entry > 16) {
      memset(list + 16, 0xff, entry - 16); /* part of no instance of a divided device */
    }
  }
  return kSuccess;
}

EXPORTED int32_t nvmlDeviceGetComputeRunningProcesses(struct device* device, uint32_t* count,
                                                      char* list) {
  return processes(device, count, list, 16);
}
EXPORTED int32_t nvmlDeviceGetComputeRunningProcesses_v2(struct device* device, uint32_t* count,
                                                         char* list) {
  return processes(device, count, list, 24);
}
EXPORTED int32_t nvmlDeviceGetComputeRunningProcesses_v3(struct device* device, uint32_t* count,
                                                         char* list) {
  return processes(device, count, list, 24);
}

EXPORTED int32_t nvmlSystemGetCudaDriverVersion_v2(int32_t* version) {
  int (*get)(int*) = (int (*)(int*))ferry_driver("cuDriverGetVersion");
  if (version == NULL) {
    return kInvalidArgument;
  }
  return get != NULL && get(version) == 0 ? kSuccess : kDriverNotLoaded;
}
EXPORTED int32_t nvmlSystemGetCudaDriverVersion(int32_t* version) {
  return nvmlSystemGetCudaDriverVersion_v2(version);
}

/* 0: each reaches the other; 5: not; 6: the state is not known, as where one of them is hidden from
 * this process. */
EXPORTED int32_t nvmlDeviceGetP2PStatus(struct device* one, struct device* other,
                                        int32_t capability, int32_t* answer) {
  (void)capability;
  const int32_t status = check(one, answer) != kSuccess ? check(one, answer) : check(other, answer);
  if (status != kSuccess) {
    return status;
  }
  int (*can)(int*, int, int) = (int (*)(int*, int, int))ferry_driver("cuDeviceCanAccessPeer");
  const int from = nvml_driver_device(one), to = nvml_driver_device(other);
  int reaches = 0;
  *answer = 6;
  if (can != NULL && from >= 0 && to >= 0 && can(&reaches, from, to) == 0) {
    *answer = reaches ? 0 : 5;
  }
  return kSuccess;
}

/* A machine without NVLink and without a fabric of several machines; programs ask and go on. */
#define FERRY_NOT_THERE(name)   \
  EXPORTED int32_t name(void) { \
    return kNotSupported;       \
  }
FERRY_NOT_THERE(nvmlDeviceGetGpuFabricInfo)
FERRY_NOT_THERE(nvmlDeviceGetGpuFabricInfoV)
FERRY_NOT_THERE(nvmlDeviceGetNvLinkState)
FERRY_NOT_THERE(nvmlDeviceGetNvLinkRemoteDeviceType)
FERRY_NOT_THERE(nvmlDeviceGetNvLinkRemotePciInfo_v2)
