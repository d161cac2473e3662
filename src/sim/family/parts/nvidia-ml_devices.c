/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvml_devices.h"

extern char** environ;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct device known[kMaxDevices];
static int known_count = -1;

/* The program that asks lies beside this library. */
static int helper_path(char* path, size_t bytes) {
  Dl_info here;
  if (dladdr((void*)&helper_path, &here) == 0 || here.dli_fname == NULL) {
    return 0;
  }
  const char* slash = strrchr(here.dli_fname, '/');
  const int folder = slash == NULL ? 1 : (int)(slash - here.dli_fname);
  const int length =
      snprintf(path, bytes, "%.*s/ferry-sim-devices", folder, slash == NULL ? "." : here.dli_fname);
  return length > 0 && (size_t)length < bytes;
}

static int parse(char* line, struct device* device) {
  char uuid[33];
  int name = 0;
  if (sscanf(line, "%32s %31s %zu %d %d %n", uuid, device->bus, &device->memory, &device->major,
             &device->minor, &name) != 5 ||
      name == 0 || strlen(uuid) != 32) {
    return 0;
  }
  for (int i = 0; i < 16; ++i) {
    unsigned byte;
    if (sscanf(uuid + 2 * i, "%2x", &byte) != 1) {
      return 0;
    }
    device->uuid[i] = (uint8_t)byte;
  }
  line[strcspn(line, "\n")] = '\0';
  snprintf(device->name, sizeof device->name, "%s", line + name);
  return 1;
}

static int read_devices(FILE* lines) {
  char line[256];
  int count = 0;
  while (fgets(line, sizeof line, lines) != NULL) {
    if (count < kMaxDevices && parse(line, &known[count])) {
      ++count;
    }
  }
  return count;
}

static int ask(void) {
  char program[4096];
  int ends[2];
  Dl_info driver = {0};
  void* init = ferry_driver("cuInit");
  if (init == NULL || dladdr(init, &driver) == 0 || !helper_path(program, sizeof program) ||
      pipe(ends) != 0) {
    return -1;
  }
  char* arguments[] = {program, (char*)driver.dli_fname, NULL};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  pid_t child;
  const int failed = posix_spawn(&child, program, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed != 0) {
    close(ends[0]);
    return -1;
  }
  FILE* lines = fdopen(ends[0], "r");
  const int count = lines == NULL ? -1 : read_devices(lines);
  if (lines != NULL) {
    fclose(lines);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? count : -1;
}

int nvml_devices(struct device** devices) {
  pthread_mutex_lock(&lock);
  if (known_count < 0) {
    known_count = ask();
  }
  const int count = known_count;
  pthread_mutex_unlock(&lock);
  *devices = known;
  return count;
}

int nvml_driver_device(const struct device* device) {
  int (*get_count)(int*) = (int (*)(int*))ferry_driver("cuDeviceGetCount");
  int (*get)(int*, int) = (int (*)(int*, int))ferry_driver("cuDeviceGet");
  int (*get_uuid)(uint8_t*, int) = (int (*)(uint8_t*, int))ferry_driver("cuDeviceGetUuid_v2");
  int count = 0;
  if (get_count == NULL || get == NULL || get_uuid == NULL || get_count(&count) != 0) {
    return -1;
  }
  for (int i = 0; i < count; ++i) {
    int one = 0;
    uint8_t uuid[16];
    if (get(&one, i) == 0 && get_uuid(uuid, one) == 0 &&
        memcmp(uuid, device->uuid, sizeof uuid) == 0) {
      return one;
    }
  }
  return -1;
}

int nvml_bytes_in_use(const struct device* device, size_t* used) {
  *used = 0;
  const int number = nvml_driver_device(device);
  int (*state)(int, unsigned*, int*) =
      (int (*)(int, unsigned*, int*))ferry_driver("cuDevicePrimaryCtxGetState");
  int (*retain)(void**, int) = (int (*)(void**, int))ferry_driver("cuDevicePrimaryCtxRetain");
  int (*release)(int) = (int (*)(int))ferry_driver("cuDevicePrimaryCtxRelease_v2");
  int (*push)(void*) = (int (*)(void*))ferry_driver("cuCtxPushCurrent_v2");
  int (*pop)(void**) = (int (*)(void**))ferry_driver("cuCtxPopCurrent_v2");
  int (*info)(size_t*, size_t*) = (int (*)(size_t*, size_t*))ferry_driver("cuMemGetInfo_v2");
  unsigned flags = 0;
  int active = 0;
  void* context = NULL;
  if (number < 0 || !state || !retain || !release || !push || !pop || !info ||
      state(number, &flags, &active) != 0 || !active || retain(&context, number) != 0) {
    return 0;
  }
  if (push(context) == 0) {
    size_t unused = 0, total = 0;
    if (info(&unused, &total) == 0) {
      *used = total - unused;
    }
    pop(&context);
  }
  release(number);
  return 1;
}
