/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates, looks at the figures, frees; any surprise is a failure. Runs on the stand-in. */
#include <ferry/ferry.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void expect(int good, const char* what) {
  if (!good) {
    fprintf(stderr, "consumer: %s failed (%s)\n", what, ferry_last_error());
    ++failures;
  }
}

int main(void) {
  const ferry_options options = {sizeof(ferry_options), "sim"};
  ferry_device_pool_stats_t stats = {.struct_size = sizeof(ferry_device_pool_stats_t)};
  ferry_device_pool* pool = NULL;
  void* block = NULL;

  expect(strncmp(ferry_version(), "0.1.", 4) == 0, "the version");
  expect(ferry_init(&options) == FERRY_OK, "ferry_init");
  expect(ferry_device_pool_create(0, NULL, &pool) == FERRY_OK, "creating a pool");
  expect(ferry_device_allocate(pool, 1000, NULL, &block) == FERRY_OK && block != NULL,
         "allocating");
  expect(ferry_device_pool_stats(pool, &stats) == FERRY_OK, "reading the figures");
  expect(stats.allocations == 1 && stats.requested_bytes == 1000, "the figures of one block");
  expect(ferry_device_free(pool, block, NULL) == FERRY_OK, "freeing");
  expect(ferry_device_free(pool, block, NULL) == FERRY_ERROR_ALREADY_FREED,
         "refusing a second free");
  expect(ferry_device_pool_audit(pool) == FERRY_OK, "the audit");
  expect(ferry_device_pool_destroy(pool) == FERRY_OK, "destroying the pool");
  if (failures == 0) printf("consumer: ferry %s works\n", ferry_version());
  return failures == 0 ? 0 : 1;
}
