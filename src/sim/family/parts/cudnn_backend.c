/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptors of cuDNN's graphs. Attributes that were set are given back. For every graph there
 * is one engine, which needs no workspace and has no knobs and no notes. */
#include <stdio.h>

#include "cudnn_tensors.h"

enum {
  kTypeBoolean = 2,
  kTypeChar = 24,
  kTypeFraction = 26,
  kTypeDescriptor = 15,
  kTypeNumericalNote = 11,
  kTypeBehaviorNote = 19,
  kAttrKnobInfo = 1302,
};

static size_t element_bytes(int32_t type) {
  switch (type) {
    case kTypeBoolean:
    case kTypeChar:
      return 1;
    case kTypeFraction:
      return 16;
    case 0: /* handle */
    case 3: /* int64 */
    case 5: /* double */
    case 6: /* pointer */
    case kTypeDescriptor:
      return 8;
    default:
      return 4;
  }
}

struct attribute_name {
  char text[32];
};

static struct attribute_name name_of(int32_t attribute, const char* what) {
  struct attribute_name name;
  snprintf(name.text, sizeof name.text, "%s%d", what, attribute);
  return name;
}

EXPORTED int32_t cudnnBackendSetAttribute(void* descriptor, int32_t attribute, int32_t type,
                                          int64_t count, const void* elements) {
  if (descriptor == NULL || count < 0 || (count > 0 && elements == NULL)) {
    return kBadParam;
  }
  ferry_remember(descriptor, name_of(attribute, "count").text, &count, sizeof count);
  ferry_remember(descriptor, name_of(attribute, "elements").text, elements,
                 (size_t)count * element_bytes(type));
  return kSuccess;
}

/* What was never set: one element, that is 0. Elements that are descriptors are the caller's, to be
 * filled in; an engine's are empty. */
static int64_t unset_count(int32_t attribute, int32_t type) {
  return type == kTypeNumericalNote || type == kTypeBehaviorNote || attribute == kAttrKnobInfo ? 0
                                                                                               : 1;
}

EXPORTED int32_t cudnnBackendGetAttribute(void* descriptor, int32_t attribute, int32_t type,
                                          int64_t requested, int64_t* count, void* elements) {
  if (descriptor == NULL) {
    return kBadParam;
  }
  int64_t found = 0;
  const int is_set =
      ferry_recall(descriptor, name_of(attribute, "count").text, &found, sizeof found) != 0;
  if (!is_set) {
    found = unset_count(attribute, type);
  }
  if (count != NULL) {
    *count = found;
  }
  const size_t bytes =
      requested > 0 ? (size_t)(requested < found ? requested : found) * element_bytes(type) : 0;
  if (elements != NULL && is_set) {
    ferry_recall(descriptor, name_of(attribute, "elements").text, elements, bytes);
  } else if (elements != NULL && type != kTypeDescriptor) {
    memset(elements, 0, bytes);
  }
  return kSuccess;
}
