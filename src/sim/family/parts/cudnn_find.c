/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of a convolution's algorithm: the first one, which needs no workspace and takes no
 * time. */
#include "cudnn_tensors.h"

struct algorithm {
  int32_t number;
  int32_t status;
  float time;
  size_t memory;
  int32_t determinism;
  int32_t math;
  int32_t reserved[3];
};

static int32_t answer(int32_t requested, int32_t* returned, struct algorithm* results) {
  if (requested <= 0 || returned == NULL || results == NULL) {
    return kBadParam;
  }
  const struct algorithm first = {.determinism = 1};
  *results = first;
  *returned = 1;
  return kSuccess;
}

#define FERRY_FIND(name)                                                                       \
  EXPORTED int32_t name(void* handle, void* one, void* other, void* convolution, void* result, \
                        int32_t requested, int32_t* returned, struct algorithm* results) {     \
    (void)handle, (void)one, (void)other, (void)convolution, (void)result;                     \
    return answer(requested, returned, results);                                               \
  }
#define FERRY_FIND_EX(name)                                                                     \
  EXPORTED int32_t name(void* handle, void* one, void* one_data, void* other, void* other_data, \
                        void* convolution, void* result, void* result_data, int32_t requested,  \
                        int32_t* returned, struct algorithm* results, void* workspace,          \
                        size_t bytes) {                                                         \
    (void)handle, (void)one, (void)one_data, (void)other, (void)other_data, (void)convolution,  \
        (void)result;                                                                           \
    (void)result_data, (void)workspace, (void)bytes;                                            \
    return answer(requested, returned, results);                                                \
  }

FERRY_FIND(cudnnFindConvolutionForwardAlgorithm)
FERRY_FIND(cudnnFindConvolutionBackwardDataAlgorithm)
FERRY_FIND(cudnnFindConvolutionBackwardFilterAlgorithm)
FERRY_FIND(cudnnGetConvolutionForwardAlgorithm_v7)
FERRY_FIND(cudnnGetConvolutionBackwardDataAlgorithm_v7)
FERRY_FIND(cudnnGetConvolutionBackwardFilterAlgorithm_v7)
FERRY_FIND_EX(cudnnFindConvolutionForwardAlgorithmEx)
FERRY_FIND_EX(cudnnFindConvolutionBackwardDataAlgorithmEx)
FERRY_FIND_EX(cudnnFindConvolutionBackwardFilterAlgorithmEx)
