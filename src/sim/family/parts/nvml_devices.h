/* SPDX-License-Identifier: Apache-2.0 */
/* The devices that NVML tells of: all of the machine, whichever this process sees. */
#ifndef FERRY_SIM_NVML_DEVICES_H
#define FERRY_SIM_NVML_DEVICES_H

#include "family.h"

enum { kMaxDevices = 64 };

struct device {
  uint8_t uuid[16];
  char bus[32];
  size_t memory;
  int major, minor;
  char name[96];
};

/* Asks the driver once. The number of devices, or -1 where no driver answers. */
int nvml_devices(struct device** devices);

/* The driver's number of this device in this process; -1 where it is hidden or the driver has not
 * been started here. */
int nvml_driver_device(const struct device* device);

/* Whether this process uses the device, and how many bytes are taken. */
int nvml_bytes_in_use(const struct device* device, size_t* used);

#endif
