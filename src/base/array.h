/* SPDX-License-Identifier: BSD-3-Clause */
/* array.h - arrays that grow, and numbers that do not overflow.
 *
 * Arrays double; pages that were never written take no memory. Times and counts come
 * from untrusted frames, so sums stop at the largest number instead of wrapping. */
#ifndef ROAST_BASE_ARRAY_H
#define ROAST_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The items, moved if there was no room for one more after `count`; NULL when out of
 * memory; the array is unchanged then. */
void *roast__array_room(void *items, size_t *cap, size_t count, size_t item_bytes);

/* Resizes the array that the pointer at `array` points to; false when out of memory; it
 * is unchanged then. */
bool roast__array_resize(void *array, size_t cap, size_t item_bytes);

static inline int64_t roast__sat_add(int64_t a, int64_t b)
{
    int64_t sum;

    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return a < 0 ? INT64_MIN : INT64_MAX;
}

static inline int64_t roast__sat_sub(int64_t a, int64_t b)
{
    int64_t difference;

    if (!__builtin_sub_overflow(a, b, &difference))
        return difference;
    return a < 0 ? INT64_MIN : INT64_MAX;
}

/* Differences wrap where the original value must be restored exactly. */
static inline int64_t roast__wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t roast__wrap_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline uint64_t roast__sat_count(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
