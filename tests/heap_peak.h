/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_peak.h - a heap behind libroast's door that knows how much of it was in use at
 * most. Like heap.h, for one thread. What SQLite takes for itself is not counted. */
#ifndef ROAST_TESTS_HEAP_PEAK_H
#define ROAST_TESTS_HEAP_PEAK_H

#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"

static struct {
    size_t live_bytes;
    size_t peak_bytes; /* since peak_begin() */
} peak_heap;

/* Every block has its size in front of it. */
union peak_head {
    size_t size_bytes;
    max_align_t aligned;
};

static void *peak_resize(void *ptr, size_t size_bytes)
{
    union peak_head *head = ptr ? (union peak_head *)ptr - 1 : NULL;
    size_t before = head ? head->size_bytes : 0;

    head = realloc(head, sizeof(*head) + size_bytes);
    if (!head)
        return NULL;
    head->size_bytes = size_bytes;
    peak_heap.live_bytes += size_bytes - before;
    if (peak_heap.live_bytes > peak_heap.peak_bytes)
        peak_heap.peak_bytes = peak_heap.live_bytes;
    return head + 1;
}

static void peak_release(void *ptr)
{
    union peak_head *head = ptr ? (union peak_head *)ptr - 1 : NULL;

    if (head)
        peak_heap.live_bytes -= head->size_bytes;
    free(head);
}

/* From now on everything in libroast allocates here. */
static inline void peak_install(void)
{
    static const struct roast_heap heap = {peak_resize, peak_release};
    roast__heap_set(&heap);
}

/* How much more than now is in use at most from now on is what peak_taken() says. */
static size_t peak_before;

static inline void peak_begin(void)
{
    peak_before = peak_heap.peak_bytes = peak_heap.live_bytes;
}

static inline size_t peak_taken(void)
{
    return peak_heap.peak_bytes - peak_before;
}

#endif
