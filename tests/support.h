/* SPDX-License-Identifier: BSD-3-Clause */
/* support.h - what every C test needs: cmocka with the headers it wants before it, and
 * words for texts and bytes.
 *
 * Input that a decoder must not read past is copied to memory of exactly its size,
 * where ASan and valgrind see one byte too many. */
#ifndef ROAST_TESTS_SUPPORT_H
#define ROAST_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "roast/text.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static inline struct roast_str str_from(const void *bytes, size_t size_bytes)
{
    return (struct roast_str){bytes, size_bytes};
}

static inline bool str_equal(struct roast_str a, struct roast_str b)
{
    return a.size_bytes == b.size_bytes && (a.data != NULL) == (b.data != NULL) &&
           (a.size_bytes == 0 || memcmp(a.data, b.data, a.size_bytes) == 0);
}

static inline bool str_is(struct roast_str str, const char *text)
{
    return str_equal(str, roast_str_of(text));
}

/* Fails with both texts shown. */
#define assert_str_is(str, text) check_str_is((str), (text), __FILE__, __LINE__)

static inline void check_str_is(struct roast_str str, const char *text,
                                const char *file, int line)
{
    if (str_is(str, text))
        return;
    print_error("\"%.*s\" is not \"%s\"\n", str.data ? (int)str.size_bytes : 0,
                str.data ? str.data : "", text);
    _fail(file, line);
}

/* A copy in memory of exactly its size; for free(). */
static inline char *tight_copy(const void *bytes, size_t size_bytes)
{
    char *copy = malloc(size_bytes > 0 ? size_bytes : 1);

    assert_non_null(copy);
    if (size_bytes > 0)
        memcpy(copy, bytes, size_bytes);
    return copy;
}

#endif
