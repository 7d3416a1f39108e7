/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.h - a heap behind libroast's door that counts, and fails when told to.
 *
 * One per test program. It is not thread-safe: use it while one thread allocates. */
#ifndef ROAST_TESTS_HEAP_H
#define ROAST_TESTS_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"

static struct {
    size_t calls;       /* allocations asked for since test_heap_fail() */
    size_t live_blocks; /* given out and not released */
    size_t fail_at;     /* the allocation that fails; 0: none does */
    bool from_then_on;  /* and all after it */
} test_heap;

static void *test_heap_resize(void *ptr, size_t size_bytes)
{
    size_t call = ++test_heap.calls;
    bool fails =
        call == test_heap.fail_at ||
        (test_heap.from_then_on && test_heap.fail_at > 0 && call > test_heap.fail_at);
    void *block = fails ? NULL : realloc(ptr, size_bytes);

    if (block && !ptr)
        test_heap.live_blocks++;
    return block;
}

static void test_heap_release(void *ptr)
{
    if (ptr)
        test_heap.live_blocks--;
    free(ptr);
}

/* From now on everything in libroast allocates here. */
static inline void test_heap_install(void)
{
    static const struct roast_heap heap = {test_heap_resize, test_heap_release};
    roast__heap_set(&heap);
}

/* The n-th allocation from now on fails, once or with all after it; 0: none. */
static inline void test_heap_fail(size_t n, bool from_then_on)
{
    test_heap.calls = 0;
    test_heap.fail_at = n;
    test_heap.from_then_on = from_then_on;
}

/* Whether the failure came to pass. */
static inline bool test_heap_failed(void)
{
    return test_heap.fail_at > 0 && test_heap.calls >= test_heap.fail_at;
}

#endif
