/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators of one process. One that waits for ranks in other processes is refused: nothing
 * would be exchanged. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "family.h"

enum { kSuccess = 0, kInternalError = 3, kInvalidArgument = 4, kDriverError = 1 };

struct unique_id {
  char bytes[128];
};

EXPORTED const char* ncclGetErrorString(int32_t status) {
  switch (status) {
    case kSuccess:
      return "no error";
    case kDriverError:
      return "unhandled cuda error";
    case kInvalidArgument:
      return "invalid argument";
    case 5:
      return "invalid usage: not supported by the stand-in";
    default:
      return "an error of the stand-in";
  }
}

EXPORTED const char* ncclGetLastError(void* communicator) {
  (void)communicator;
  return "";
}

EXPORTED int32_t ncclGetUniqueId(struct unique_id* id) {
  static unsigned count;
  struct timespec now;
  if (id == NULL) {
    return kInvalidArgument;
  }
  clock_gettime(CLOCK_REALTIME, &now);
  memset(id, 0, sizeof *id);
  snprintf(id->bytes, sizeof id->bytes, "ferry-sim %ld %u %lld.%09ld", (long)getpid(),
           __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED), (long long)now.tv_sec, now.tv_nsec);
  return kSuccess;
}

static int32_t make(void** communicator, int32_t ranks, int32_t rank, int32_t device) {
  if (communicator == NULL || ranks < 1 || rank < 0 || rank >= ranks) {
    return kInvalidArgument;
  }
  *communicator = ferry_new_object();
  ferry_remember(*communicator, "count", &ranks, sizeof ranks);
  ferry_remember(*communicator, "rank", &rank, sizeof rank);
  ferry_remember(*communicator, "device", &device, sizeof device);
  return *communicator == NULL ? kInternalError : kSuccess;
}

static int32_t current_device(void) {
  int (*get)(int*) = (int (*)(int*))ferry_driver("cuCtxGetDevice");
  int device = 0;
  return get != NULL && get(&device) == 0 ? device : 0;
}

static int32_t make_alone(const char* name, void** communicator, int32_t ranks, int32_t rank) {
  static int said;
  if (ranks > 1) {
    char text[96];
    snprintf(text, sizeof text, "%s with %d ranks (one process's alone can be simulated)", name,
             ranks);
    return ferry_refuse(text, &said);
  }
  return make(communicator, ranks, rank, current_device());
}

EXPORTED int32_t ncclCommInitRank(void** communicator, int32_t ranks, struct unique_id id,
                                  int32_t rank) {
  (void)id;
  return make_alone(__func__, communicator, ranks, rank);
}
EXPORTED int32_t ncclCommInitRankConfig(void** communicator, int32_t ranks, struct unique_id id,
                                        int32_t rank, void* config) {
  (void)id, (void)config;
  return make_alone(__func__, communicator, ranks, rank);
}
EXPORTED int32_t ncclCommInitRankScalable(void** communicator, int32_t ranks, int32_t rank,
                                          int32_t count, void* ids, void* config) {
  (void)count, (void)ids, (void)config;
  return make_alone(__func__, communicator, ranks, rank);
}

EXPORTED int32_t ncclCommInitAll(void** communicators, int32_t count, const int32_t* devices) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t status = make(&communicators[i], count, i, devices == NULL ? i : devices[i]);
    if (status != kSuccess) {
      return status;
    }
  }
  return kSuccess;
}

EXPORTED int32_t ncclCommSplit(void* communicator, int32_t color, int32_t key, void** split,
                               void* config) {
  (void)communicator, (void)key, (void)config;
  if (split == NULL) {
    return kInvalidArgument;
  }
  *split = NULL;
  return color < 0 ? kSuccess : make(split, 1, 0, current_device());
}

static int32_t look_up(void* communicator, const char* what, int32_t* out) {
  return out != NULL && ferry_recall(communicator, what, out, sizeof *out) != 0 ? kSuccess
                                                                                : kInvalidArgument;
}
EXPORTED int32_t ncclCommCount(void* communicator, int32_t* count) {
  return look_up(communicator, "count", count);
}
EXPORTED int32_t ncclCommUserRank(void* communicator, int32_t* rank) {
  return look_up(communicator, "rank", rank);
}
EXPORTED int32_t ncclCommCuDevice(void* communicator, int32_t* device) {
  return look_up(communicator, "device", device);
}

/* Programs finalize first and destroy then. */
EXPORTED int32_t ncclCommFinalize(void* communicator) {
  (void)communicator;
  return kSuccess;
}
EXPORTED int32_t ncclCommDestroy(void* communicator) {
  ferry_free_object(communicator);
  return kSuccess;
}
EXPORTED int32_t ncclCommAbort(void* communicator) {
  return ncclCommDestroy(communicator);
}

EXPORTED int32_t ncclCommRegister(void* communicator, void* buffer, size_t bytes, void** handle) {
  (void)communicator, (void)buffer, (void)bytes;
  if (handle == NULL) {
    return kInvalidArgument;
  }
  *handle = ferry_new_object();
  return kSuccess;
}
EXPORTED int32_t ncclCommDeregister(void* communicator, void* handle) {
  (void)communicator;
  ferry_free_object(handle);
  return kSuccess;
}

EXPORTED int32_t ncclMemAlloc(void** memory, size_t bytes) {
  int (*allocate)(void**, size_t) = (int (*)(void**, size_t))ferry_driver("cuMemAlloc_v2");
  return memory == NULL                                     ? kInvalidArgument
         : allocate != NULL && allocate(memory, bytes) == 0 ? kSuccess
                                                            : kDriverError;
}
EXPORTED int32_t ncclMemFree(void* memory) {
  int (*release)(void*) = (int (*)(void*))ferry_driver("cuMemFree_v2");
  return release != NULL && release(memory) == 0 ? kSuccess : kDriverError;
}
