/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "family.h"

/* The first word of every object, so that foreign memory is not taken for one. */
static const uint64_t mark = 0x796c696d61666f66;

struct value {
  struct value* next;
  size_t bytes;
  char* name; /* behind the content */
  unsigned char content[];
};

struct object {
  uint64_t mark;
  struct value* values;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void* ferry_new_object(void) {
  struct object* object = calloc(1, sizeof *object);
  if (object != NULL) {
    object->mark = mark;
  }
  return object;
}

static void forget(struct value** place) {
  struct value* old = *place;
  *place = old->next;
  free(old);
}

static int is_ours(const struct object* object) {
  return object != NULL && object->mark == mark;
}

void ferry_free_object(void* pointer) {
  struct object* object = pointer;
  if (!is_ours(object)) {
    return;
  }
  pthread_mutex_lock(&lock);
  while (object->values != NULL) {
    forget(&object->values);
  }
  object->mark = 0;
  pthread_mutex_unlock(&lock);
  free(object);
}

int ferry_new_id(void) {
  static int last;
  return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static struct value** find(struct object* object, const char* name) {
  struct value** place = &object->values;
  while (*place != NULL && strcmp((*place)->name, name) != 0) {
    place = &(*place)->next;
  }
  return place;
}

void ferry_remember(void* pointer, const char* name, const void* content, size_t bytes) {
  struct object* object = pointer;
  if (!is_ours(object)) {
    return;
  }
  pthread_mutex_lock(&lock);
  struct value** place = find(object, name);
  if (*place != NULL && (*place)->bytes != bytes) {
    forget(place);
    place = find(object, name);
  }
  if (*place == NULL) {
    *place = calloc(1, sizeof(struct value) + bytes + strlen(name) + 1);
    if (*place != NULL) {
      (*place)->bytes = bytes;
      (*place)->name = (char*)(*place)->content + bytes;
      strcpy((*place)->name, name);
    }
  }
  if (*place != NULL) {
    memcpy((*place)->content, content, bytes);
  }
  pthread_mutex_unlock(&lock);
}

size_t ferry_recall(void* pointer, const char* name, void* out, size_t bytes) {
  struct object* object = pointer;
  if (!is_ours(object)) {
    return 0;
  }
  pthread_mutex_lock(&lock);
  struct value** place = find(object, name);
  size_t copied = 0;
  if (*place != NULL) {
    copied = (*place)->bytes < bytes ? (*place)->bytes : bytes;
    memcpy(out, (*place)->content, copied);
  }
  pthread_mutex_unlock(&lock);
  return copied;
}

int ferry_refuse(const char* name, int* said) {
  if (!__atomic_exchange_n(said, 1, __ATOMIC_RELAXED)) {
    fprintf(stderr, "ferry-sim: %s is not supported by the stand-in\n", name);
  }
  return ferry_not_supported;
}

void* ferry_driver(const char* name) {
  static void* library;
  void* opened = __atomic_load_n(&library, __ATOMIC_ACQUIRE);
  if (opened == NULL) {
    /* Never closed: the driver lives as long as the process. */
    opened = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    __atomic_store_n(&library, opened, __ATOMIC_RELEASE);
  }
  return opened == NULL ? NULL : dlsym(opened, name);
}
