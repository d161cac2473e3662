/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor and filter descriptors: what was set is given back. */
#ifndef FERRY_SIM_CUDNN_TENSORS_H
#define FERRY_SIM_CUDNN_TENSORS_H

#include "family.h"

enum { kSuccess = 0, kBadParam = 2000, kMaxDims = 8 };

struct shape {
  int32_t type;
  int32_t format;
  int32_t count;
  int32_t dims[kMaxDims];
  int32_t strides[kMaxDims];
};

/* Bytes of an element of this cudnnDataType_t. */
size_t cudnn_type_bytes(int32_t type);
/* A dense shape, in row-major order. */
struct shape dense_shape(int32_t type, int32_t format, int32_t count, const int32_t* dims);
void set_shape(void* descriptor, const struct shape* shape);

#endif
