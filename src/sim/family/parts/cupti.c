/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is recorded: profilers get buffers without records. */
#include <time.h>

#include "family.h"

enum { kSuccess = 0, kInvalidParameter = 1, kMaxLimitReached = 12 };

EXPORTED int32_t cuptiActivityGetNextRecord(void* buffer, size_t bytes, void** record) {
  (void)buffer, (void)bytes, (void)record;
  return kMaxLimitReached;
}

EXPORTED int32_t cuptiGetTimestamp(uint64_t* nanoseconds) {
  struct timespec now;
  if (nanoseconds == NULL) {
    return kInvalidParameter;
  }
  clock_gettime(CLOCK_REALTIME, &now);
  *nanoseconds = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
  return kSuccess;
}

EXPORTED int32_t cuptiGetResultString(int32_t status, const char** text) {
  if (text == NULL) {
    return kInvalidParameter;
  }
  *text = status == kSuccess ? "CUPTI_SUCCESS"
          : status == 27     ? "CUPTI_ERROR_NOT_SUPPORTED"
                             : "an error of the stand-in";
  return kSuccess;
}

EXPORTED int32_t cuptiGetCallbackName(int32_t domain, uint32_t callback, const char** name) {
  (void)domain, (void)callback;
  if (name == NULL) {
    return kInvalidParameter;
  }
  *name = "";
  return kSuccess;
}
