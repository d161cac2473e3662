/* SPDX-License-Identifier: Apache-2.0 */
#include "cudnn_tensors.h"

size_t cudnn_type_bytes(int32_t type) {
  switch (type) {
    case 1:  /* double */
    case 10: /* int64 */
      return 8;
    case 0:  /* float */
    case 4:  /* int32 */
    case 5:  /* int8x4 */
    case 7:  /* uint8x4 */
    case 14: /* fast float for fp8 */
      return 4;
    case 2: /* half */
    case 9: /* bfloat16 */
      return 2;
    case 8: /* int8x32 */
      return 32;
    default:
      return 1;
  }
}

struct shape dense_shape(int32_t type, int32_t format, int32_t count, const int32_t* dims) {
  struct shape shape = {.type = type, .format = format, .count = count};
  int32_t stride = 1;
  for (int32_t i = count; i-- > 0;) {
    shape.dims[i] = dims[i];
    shape.strides[i] = stride;
    stride *= dims[i];
  }
  return shape;
}

void set_shape(void* descriptor, const struct shape* shape) {
  ferry_remember(descriptor, "shape", shape, sizeof *shape);
}

static int is_count(int32_t count) {
  return count > 0 && count <= kMaxDims;
}

EXPORTED int32_t cudnnSetTensorNdDescriptor(void* tensor, int32_t type, int32_t count,
                                            const int32_t* dims, const int32_t* strides) {
  if (!is_count(count) || dims == NULL || strides == NULL) {
    return kBadParam;
  }
  struct shape shape = dense_shape(type, 0, count, dims);
  memcpy(shape.strides, strides, (size_t)count * sizeof *strides);
  set_shape(tensor, &shape);
  return kSuccess;
}

EXPORTED int32_t cudnnSetTensorNdDescriptorEx(void* tensor, int32_t format, int32_t type,
                                              int32_t count, const int32_t* dims) {
  if (!is_count(count) || dims == NULL) {
    return kBadParam;
  }
  struct shape shape = dense_shape(type, format, count, dims);
  if (format == 1 && count > 2) { /* channels are innermost */
    int32_t stride = dims[1];
    shape.strides[1] = 1;
    for (int32_t i = count; i-- > 2;) {
      shape.strides[i] = stride;
      stride *= dims[i];
    }
    shape.strides[0] = stride;
  }
  set_shape(tensor, &shape);
  return kSuccess;
}

EXPORTED int32_t cudnnSetTensor4dDescriptor(void* tensor, int32_t format, int32_t type, int32_t n,
                                            int32_t c, int32_t h, int32_t w) {
  const int32_t dims[4] = {n, c, h, w};
  return cudnnSetTensorNdDescriptorEx(tensor, format, type, 4, dims);
}

EXPORTED int32_t cudnnSetTensor4dDescriptorEx(void* tensor, int32_t type, int32_t n, int32_t c,
                                              int32_t h, int32_t w, int32_t n_stride,
                                              int32_t c_stride, int32_t h_stride,
                                              int32_t w_stride) {
  const int32_t dims[4] = {n, c, h, w};
  const int32_t strides[4] = {n_stride, c_stride, h_stride, w_stride};
  return cudnnSetTensorNdDescriptor(tensor, type, 4, dims, strides);
}

static void copy_out(int32_t* out, const int32_t* values, int32_t requested, int32_t count) {
  if (out != NULL && requested > 0) {
    memcpy(out, values, (size_t)(requested < count ? requested : count) * sizeof *out);
  }
}

static void give(int32_t* out, int32_t value) {
  if (out != NULL) {
    *out = value;
  }
}

EXPORTED int32_t cudnnGetTensorNdDescriptor(void* tensor, int32_t requested, int32_t* type,
                                            int32_t* count, int32_t* dims, int32_t* strides) {
  struct shape shape = {0};
  ferry_recall(tensor, "shape", &shape, sizeof shape);
  give(type, shape.type);
  give(count, shape.count);
  copy_out(dims, shape.dims, requested, shape.count);
  copy_out(strides, shape.strides, requested, shape.count);
  return kSuccess;
}

EXPORTED int32_t cudnnGetTensor4dDescriptor(void* tensor, int32_t* type, int32_t* n, int32_t* c,
                                            int32_t* h, int32_t* w, int32_t* n_stride,
                                            int32_t* c_stride, int32_t* h_stride,
                                            int32_t* w_stride) {
  struct shape shape = {0};
  ferry_recall(tensor, "shape", &shape, sizeof shape);
  int32_t* const dims[4] = {n, c, h, w};
  int32_t* const strides[4] = {n_stride, c_stride, h_stride, w_stride};
  give(type, shape.type);
  for (int i = 0; i < 4; ++i) {
    give(dims[i], shape.dims[i]);
    give(strides[i], shape.strides[i]);
  }
  return kSuccess;
}

/* From the first element to the last. */
EXPORTED int32_t cudnnGetTensorSizeInBytes(void* tensor, size_t* size) {
  struct shape shape = {0};
  if (size == NULL) {
    return kBadParam;
  }
  *size = 0;
  if (ferry_recall(tensor, "shape", &shape, sizeof shape) != 0) {
    size_t last = 0;
    for (int32_t i = 0; i < shape.count; ++i) {
      last += (size_t)(shape.dims[i] - 1) * (size_t)shape.strides[i];
    }
    *size = (last + 1) * cudnn_type_bytes(shape.type);
  }
  return kSuccess;
}

EXPORTED int32_t cudnnSetFilterNdDescriptor(void* filter, int32_t type, int32_t format,
                                            int32_t count, const int32_t* dims) {
  return cudnnSetTensorNdDescriptorEx(filter, format, type, count, dims);
}

EXPORTED int32_t cudnnGetFilterNdDescriptor(void* filter, int32_t requested, int32_t* type,
                                            int32_t* format, int32_t* count, int32_t* dims) {
  struct shape shape = {0};
  ferry_recall(filter, "shape", &shape, sizeof shape);
  give(type, shape.type);
  give(format, shape.format);
  give(count, shape.count);
  copy_out(dims, shape.dims, requested, shape.count);
  return kSuccess;
}

EXPORTED int32_t cudnnGetFilterSizeInBytes(void* filter, size_t* size) {
  return cudnnGetTensorSizeInBytes(filter, size);
}
