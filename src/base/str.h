/* SPDX-License-Identifier: BSD-3-Clause */
/* str.h - comparing borrowed texts.
 *
 * An absent text equals an empty one here; only `data` differs. */
#ifndef ROAST_BASE_STR_H
#define ROAST_BASE_STR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "roast/text.h"

static inline bool roast__str_equal(struct roast_str a, struct roast_str b)
{
    return a.size_bytes == b.size_bytes &&
           (a.size_bytes == 0 ||
            (a.data && b.data && memcmp(a.data, b.data, a.size_bytes) == 0));
}

static inline bool roast__str_is(struct roast_str str, const char *text)
{
    return roast__str_equal(str, roast_str_of(text));
}

static inline bool roast__str_begins(struct roast_str str, const char *text)
{
    size_t size = strlen(text);

    return str.size_bytes >= size && memcmp(str.data, text, size) == 0;
}

/* By bytes, a prefix first: negative, 0 or positive, as qsort() needs it. */
static inline int roast__str_compare(struct roast_str a, struct roast_str b)
{
    size_t shorter = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
    int order = shorter > 0 && a.data && b.data ? memcmp(a.data, b.data, shorter) : 0;

    if (order != 0)
        return order;
    return (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

/* Takes a decimal number and the blank after it off the front of a text, which is absent
 * after the last one. False: not a number, or too large; nothing changes then. (text.c) */
bool roast__str_take_int(struct roast_str *text, int64_t *value);

/* The last of the words is NULL. */
static inline bool roast__str_is_one_of(struct roast_str str, const char *const *words)
{
    while (*words && !roast__str_is(str, *words))
        words++;
    return *words != NULL;
}

#endif
