/* SPDX-License-Identifier: Apache-2.0 */
/* A factor has no zero on its diagonal: nothing was computed that could have one. */
#include "family.h"

static int32_t no_zero_pivot(void* handle, int32_t* position) {
  int32_t mode = 0;
  ferry_recall(handle, "cusparsePointerMode.mode", &mode, sizeof mode);
  if (mode == 0 && position != NULL) {
    *position = -1;
  }
  return 0;
}

#define FERRY_ZERO_PIVOT(name)                                         \
  EXPORTED int32_t name(void* handle, void* info, int32_t* position) { \
    (void)info;                                                        \
    return no_zero_pivot(handle, position);                            \
  }

FERRY_ZERO_PIVOT(cusparseXbsrsv2_zeroPivot)
FERRY_ZERO_PIVOT(cusparseXbsrsm2_zeroPivot)
FERRY_ZERO_PIVOT(cusparseXcsrilu02_zeroPivot)
FERRY_ZERO_PIVOT(cusparseXbsrilu02_zeroPivot)
FERRY_ZERO_PIVOT(cusparseXcsric02_zeroPivot)
FERRY_ZERO_PIVOT(cusparseXbsric02_zeroPivot)
