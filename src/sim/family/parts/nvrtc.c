/* SPDX-License-Identifier: Apache-2.0 */
/* Code that is compiled while the program runs has nothing to run on: compiling fails, and the log
 * says why. */
#include <stdio.h>
#include <stdlib.h>

#include "family.h"

enum { kSuccess = 0, kInvalidInput = 3, kInvalidProgram = 4, kCompilation = 6 };

static const char reason[] =
    "ferry-sim: kernels that are compiled at run time (NVRTC) cannot run on the stand-in; use "
    "operators that PyTorch has "
    "compiled already.";

EXPORTED const char* nvrtcGetErrorString(int32_t status) {
  return status == kSuccess       ? "NVRTC_SUCCESS"
         : status == kCompilation ? "NVRTC_ERROR_COMPILATION"
                                  : "an error of the stand-in";
}

EXPORTED int32_t nvrtcCreateProgram(void** program, const char* source, const char* name,
                                    int32_t count, const char* const* headers,
                                    const char* const* names) {
  (void)source, (void)name, (void)count, (void)headers, (void)names;
  if (program == NULL) {
    return kInvalidInput;
  }
  *program = ferry_new_object();
  return kSuccess;
}

EXPORTED int32_t nvrtcDestroyProgram(void** program) {
  if (program == NULL) {
    return kInvalidProgram;
  }
  ferry_free_object(*program);
  *program = NULL;
  return kSuccess;
}

EXPORTED int32_t nvrtcAddNameExpression(void* program, const char* expression) {
  (void)program, (void)expression;
  return kSuccess;
}

EXPORTED int32_t nvrtcCompileProgram(void* program, int32_t count, const char* const* options) {
  static int said;
  (void)program, (void)count, (void)options;
  if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED)) {
    fprintf(stderr, "%s\n", reason);
  }
  return kCompilation;
}

EXPORTED int32_t nvrtcGetProgramLogSize(void* program, size_t* bytes) {
  (void)program;
  if (bytes == NULL) {
    return kInvalidInput;
  }
  *bytes = sizeof reason;
  return kSuccess;
}
EXPORTED int32_t nvrtcGetProgramLog(void* program, char* log) {
  (void)program;
  if (log == NULL) {
    return kInvalidInput;
  }
  memcpy(log, reason, sizeof reason);
  return kSuccess;
}

/* There is no result to have. */
#define FERRY_NO_RESULT(name, type)                   \
  EXPORTED int32_t name(void* program, type result) { \
    (void)program, (void)result;                      \
    return kInvalidProgram;                           \
  }
FERRY_NO_RESULT(nvrtcGetPTXSize, size_t*)
FERRY_NO_RESULT(nvrtcGetPTX, char*)
FERRY_NO_RESULT(nvrtcGetCUBINSize, size_t*)
FERRY_NO_RESULT(nvrtcGetCUBIN, char*)

EXPORTED int32_t nvrtcGetLoweredName(void* program, const char* expression, const char** lowered) {
  (void)program, (void)expression, (void)lowered;
  return kInvalidProgram;
}
