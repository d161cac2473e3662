/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent networks: where their parameters lie in the weight space. cuDNN does not say how it
 * lays them out; here the matrices of all layers come first, each layer's in the order of their
 * numbers, then the biases in the same order. */
#include "cudnn_tensors.h"

struct rnn {
  int32_t cell, bias, direction, type, input, hidden, projection, layers;
};

enum { kLstm = 2, kGru = 3 };

EXPORTED int32_t cudnnSetRNNDescriptor_v8(void* descriptor, int32_t algorithm, int32_t cell,
                                          int32_t bias, int32_t direction, int32_t input_mode,
                                          int32_t type, int32_t precision, int32_t math,
                                          int32_t input, int32_t hidden, int32_t projection,
                                          int32_t layers, void* dropout, uint32_t flags) {
  (void)algorithm, (void)input_mode, (void)precision, (void)math, (void)dropout, (void)flags;
  const struct rnn rnn = {cell, bias, direction, type, input, hidden, projection, layers};
  if (hidden <= 0 || layers <= 0 || direction < 0 || direction > 1) {
    return kBadParam;
  }
  ferry_remember(descriptor, "rnn", &rnn, sizeof rnn);
  return kSuccess;
}

static int32_t gates_of(const struct rnn* rnn) {
  return rnn->cell == kLstm ? 4 : rnn->cell == kGru ? 3 : 1;
}
static int is_projected(const struct rnn* rnn) {
  return rnn->projection > 0 && rnn->projection < rnn->hidden;
}
static int32_t output_of(const struct rnn* rnn) {
  return is_projected(rnn) ? rnn->projection : rnn->hidden;
}
static int32_t directions_of(const struct rnn* rnn) {
  return rnn->direction + 1;
}
/* Those of the input, those of the recurrence, the projection. */
static int32_t matrices_of(const struct rnn* rnn) {
  return 2 * gates_of(rnn) + is_projected(rnn);
}

static void matrix_dims(const struct rnn* rnn, int32_t layer, int32_t number, int32_t dims[3]) {
  const int32_t gates = gates_of(rnn);
  const int is_first = layer / directions_of(rnn) == 0;
  dims[0] = 1;
  dims[1] = number == 2 * gates ? rnn->projection : rnn->hidden;
  dims[2] = number == 2 * gates ? rnn->hidden
            : number >= gates   ? output_of(rnn)
            : is_first          ? rnn->input
                                : output_of(rnn) * directions_of(rnn);
}

/* Whether the matrix of this number has a bias. */
static int has_bias(const struct rnn* rnn, int32_t number) {
  const int32_t gates = gates_of(rnn);
  if (number >= 2 * gates || rnn->bias == 0) {
    return 0;
  }
  return rnn->bias == 2 || (rnn->bias == 1 ? number < gates : number >= gates);
}

/* Elements before the matrix of a layer; past the last layer: of all matrices. */
static size_t matrices_before(const struct rnn* rnn, int32_t layer, int32_t number) {
  size_t elements = 0;
  int32_t dims[3];
  for (int32_t one = 0; one < layer; ++one) {
    for (int32_t i = 0; i < matrices_of(rnn); ++i) {
      matrix_dims(rnn, one, i, dims);
      elements += (size_t)dims[1] * (size_t)dims[2];
    }
  }
  for (int32_t i = 0; i < number; ++i) {
    matrix_dims(rnn, layer, i, dims);
    elements += (size_t)dims[1] * (size_t)dims[2];
  }
  return elements;
}

static size_t biases_before(const struct rnn* rnn, int32_t layer, int32_t number) {
  size_t of_a_layer = 0, before = 0;
  for (int32_t i = 0; i < matrices_of(rnn); ++i) {
    of_a_layer += (size_t)has_bias(rnn, i);
    before += i < number ? (size_t)has_bias(rnn, i) : 0;
  }
  return ((size_t)layer * of_a_layer + before) * (size_t)rnn->hidden;
}

static int32_t all_layers(const struct rnn* rnn) {
  return rnn->layers * directions_of(rnn);
}

EXPORTED int32_t cudnnGetRNNWeightSpaceSize(void* handle, void* descriptor, size_t* bytes) {
  (void)handle;
  struct rnn rnn;
  if (bytes == NULL || ferry_recall(descriptor, "rnn", &rnn, sizeof rnn) == 0) {
    return kBadParam;
  }
  *bytes = (matrices_before(&rnn, all_layers(&rnn), 0) + biases_before(&rnn, all_layers(&rnn), 0)) *
           cudnn_type_bytes(rnn.type);
  return kSuccess;
}

EXPORTED int32_t cudnnGetRNNWeightParams(void* handle, void* descriptor, int32_t layer,
                                         size_t space_bytes, char* space, int32_t number,
                                         void* matrix, void** matrix_address, void* bias,
                                         void** bias_address) {
  (void)handle, (void)space_bytes;
  struct rnn rnn;
  if (ferry_recall(descriptor, "rnn", &rnn, sizeof rnn) == 0 || layer < 0 ||
      layer >= all_layers(&rnn) || number < 0) {
    return kBadParam;
  }
  const size_t element = cudnn_type_bytes(rnn.type);
  const struct shape none = {.type = rnn.type};
  if (matrix_address != NULL) {
    const int is_there = number < matrices_of(&rnn);
    int32_t dims[3];
    matrix_dims(&rnn, layer, number, dims);
    const struct shape shape = is_there ? dense_shape(rnn.type, 0, 3, dims) : none;
    set_shape(matrix, &shape);
    *matrix_address = is_there ? space + matrices_before(&rnn, layer, number) * element : NULL;
  }
  if (bias_address != NULL) {
    const int is_there = has_bias(&rnn, number);
    const int32_t dims[3] = {1, rnn.hidden, 1};
    const struct shape shape = is_there ? dense_shape(rnn.type, 0, 3, dims) : none;
    set_shape(bias, &shape);
    const size_t before =
        matrices_before(&rnn, all_layers(&rnn), 0) + biases_before(&rnn, layer, number);
    *bias_address = is_there ? space + before * element : NULL;
  }
  return kSuccess;
}
