/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the devices of the machine for the stand-in of NVML, which sees them all and starts no
 * driver in its own process: a process that had, could not use the GPU after a fork. One line for
 * each device: uuid (32 hexadecimal digits), bus address, bytes of memory, compute capability (two
 * numbers), name usage: ferry-sim-devices [the driver's file] */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*init_fn)(unsigned);
typedef int (*count_fn)(int*);
typedef int (*get_fn)(int*, int);
typedef int (*text_fn)(char*, int, int);
typedef int (*memory_fn)(size_t*, int);
typedef int (*attribute_fn)(int*, int, int);

enum { kMajor = 75, kMinor = 76 };

int main(int argc, char** argv) {
  unsetenv("CUDA_VISIBLE_DEVICES");
  void* driver = dlopen(argc > 1 ? argv[1] : "libcuda.so.1", RTLD_NOW);
  if (driver == NULL) {
    return 1;
  }
  const init_fn init = (init_fn)dlsym(driver, "cuInit");
  const count_fn get_count = (count_fn)dlsym(driver, "cuDeviceGetCount");
  const get_fn get = (get_fn)dlsym(driver, "cuDeviceGet");
  const text_fn get_name = (text_fn)dlsym(driver, "cuDeviceGetName");
  const text_fn get_bus = (text_fn)dlsym(driver, "cuDeviceGetPCIBusId");
  const memory_fn get_memory = (memory_fn)dlsym(driver, "cuDeviceTotalMem_v2");
  const attribute_fn get_attribute = (attribute_fn)dlsym(driver, "cuDeviceGetAttribute");
  int (*get_uuid)(uint8_t*, int) = (int (*)(uint8_t*, int))dlsym(driver, "cuDeviceGetUuid_v2");
  int count = 0;
  if (init == NULL || get_count == NULL || get == NULL || get_name == NULL || get_bus == NULL ||
      get_memory == NULL || get_attribute == NULL || get_uuid == NULL || init(0) != 0 ||
      get_count(&count) != 0) {
    return 1;
  }
  for (int i = 0; i < count; ++i) {
    int device = 0, major = 0, minor = 0;
    size_t memory = 0;
    uint8_t uuid[16];
    char bus[32], name[96];
    if (get(&device, i) != 0 || get_uuid(uuid, device) != 0 ||
        get_bus(bus, sizeof bus, device) != 0 || get_memory(&memory, device) != 0 ||
        get_attribute(&major, kMajor, device) != 0 || get_attribute(&minor, kMinor, device) != 0 ||
        get_name(name, sizeof name, device) != 0) {
      return 1;
    }
    for (int byte = 0; byte < 16; ++byte) {
      printf("%02x", uuid[byte]);
    }
    printf(" %s %zu %d %d %s\n", bus, memory, major, minor, name);
  }
  return 0;
}
