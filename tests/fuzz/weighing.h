/* SPDX-License-Identifier: BSD-3-Clause */
/* weighing.h - a heap behind libroast's door that knows how many bytes are out. */
#ifndef ROAST_TESTS_FUZZ_WEIGHING_H
#define ROAST_TESTS_FUZZ_WEIGHING_H

#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"

enum { WEIGHT_BYTES = 16 }; /* in front of each block: its size */

static struct {
    size_t now_bytes;
    size_t peak_bytes;
} weighed;

static void *weighed_resize(void *ptr, size_t size_bytes)
{
    char *old = ptr ? (char *)ptr - WEIGHT_BYTES : NULL;
    size_t old_bytes = old ? *(size_t *)(void *)old : 0;
    char *block = realloc(old, size_bytes + WEIGHT_BYTES);

    if (!block)
        return NULL;
    *(size_t *)(void *)block = size_bytes;
    weighed.now_bytes += size_bytes - old_bytes;
    if (weighed.now_bytes > weighed.peak_bytes)
        weighed.peak_bytes = weighed.now_bytes;
    return block + WEIGHT_BYTES;
}

static void weighed_release(void *ptr)
{
    char *block = ptr ? (char *)ptr - WEIGHT_BYTES : NULL;

    if (block)
        weighed.now_bytes -= *(size_t *)(void *)block;
    free(block);
}

static inline void weighing_install(void)
{
    static const struct roast_heap heap = {weighed_resize, weighed_release};
    roast__heap_set(&heap);
}

static inline void weighing_start(void)
{
    weighed.peak_bytes = weighed.now_bytes;
}

#endif
