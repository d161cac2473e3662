/* SPDX-License-Identifier: Apache-2.0 */
/* Direct storage is not simulated. Errors are two numbers: the library's own, and the driver's. */
#include "family.h"

struct error {
  int32_t own;
  int32_t driver;
};

#define FERRY_NO_FILE(name)                               \
  EXPORTED struct error name(void) {                      \
    static int said;                                      \
    struct error error = {ferry_refuse(#name, &said), 0}; \
    return error;                                         \
  }
FERRY_NO_FILE(cuFileDriverOpen)
FERRY_NO_FILE(cuFileDriverClose)
FERRY_NO_FILE(cuFileHandleRegister)
FERRY_NO_FILE(cuFileBufRegister)
FERRY_NO_FILE(cuFileBufDeregister)

EXPORTED void cuFileHandleDeregister(void* handle) {
  (void)handle;
}

static int64_t no_bytes(const char* name, int* said) {
  return -ferry_refuse(name, said);
}
EXPORTED int64_t cuFileRead(void) {
  static int said;
  return no_bytes(__func__, &said);
}
EXPORTED int64_t cuFileWrite(void) {
  static int said;
  return no_bytes(__func__, &said);
}
