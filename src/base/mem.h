/* SPDX-License-Identifier: BSD-3-Clause */
/* mem.h - all access to the heap.
 *
 * Everything in libroast allocates here and nowhere else, so that a test can make the
 * n-th allocation fail (tests/oom) and a host program can supply its own heap. */
#ifndef ROAST_BASE_MEM_H
#define ROAST_BASE_MEM_H

#include <stddef.h>

/* The functions of a heap. Both follow the C library's contract for
 * realloc(ptr, size > 0) and free(ptr). */
struct roast_heap {
    void *(*resize)(void *ptr, size_t size_bytes);
    void (*release)(void *ptr);
};

/* Replaces the heap; NULL restores the C library's. Not thread-safe: for tests, before
 * any other call. */
void roast__heap_set(const struct roast_heap *heap);

void *roast__alloc(size_t size_bytes); /* zeroed; NULL when out of memory */
void *roast__realloc(void *ptr, size_t size_bytes); /* not zeroed */
void roast__free(void *ptr);                        /* NULL is fine */

#endif
