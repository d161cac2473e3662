/* SPDX-License-Identifier: Apache-2.0 */
/* What the stand-ins of NVIDIA's libraries share. Each library has its own copy: generated
 * functions, the parts written by hand that belong to it, and objects.c. No header of NVIDIA's is
 * needed: parameters have the types that the calling convention sees.
 *
 * An object is a handle, descriptor or plan. It remembers by name the values it was given, so that
 * who asks gets them back; it belongs to the program, which destroys it. All functions may be
 * called from any thread. */
#ifndef FERRY_SIM_FAMILY_H
#define FERRY_SIM_FAMILY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

/* Of this library, by the generator. */
extern const int ferry_not_supported;
extern const int ferry_version[3]; /* all -1 where torch's installation does not say */
extern const int ferry_version_number;
extern const int ferry_toolkit_version[2];

/* A new object, distinct from all others that live; NULL when memory is gone. */
void* ferry_new_object(void);
void ferry_free_object(void* object);
/* A number that stands for a new object, from 1 on. */
int ferry_new_id(void);

/* Both do nothing where the object is none of ours. A value that is remembered again replaces the
 * old one. */
void ferry_remember(void* object, const char* name, const void* value, size_t bytes);
/* The bytes that were copied to `out`; those beyond stay as they are. */
size_t ferry_recall(void* object, const char* name, void* out, size_t bytes);

/* Says once for each name that the stand-in does not have this function. Returns
 * ferry_not_supported. */
int ferry_refuse(const char* name, int* said);

#define FERRY_REFUSE()                    \
  do {                                    \
    static int said;                      \
    return ferry_refuse(__func__, &said); \
  } while (0)

/* The driver's function of this name, from the libcuda.so.1 of this process; NULL where there is
 * none. */
void* ferry_driver(const char* name);

#endif
