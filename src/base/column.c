/* SPDX-License-Identifier: BSD-3-Clause */
/* column.c - one column of numbers in Arrow's layout: growth and setting.
 *
 * Values are not cleared when a column grows, so unused pages stay untouched. Only the
 * bitmap defines which values are valid. */
#include "base/column.h"

#include <string.h>

#include "base/mem.h"

static size_t bitmap_bytes(size_t cap)
{
    return (cap + 7) / 8;
}

static bool resize(struct roast_column *column, size_t cap)
{
    size_t old_bytes = column->valid ? bitmap_bytes(column->cap) : 0;
    size_t new_bytes = bitmap_bytes(cap);

    if (cap > SIZE_MAX / sizeof(*column->values))
        return false;
    unsigned char *valid = roast__realloc(column->valid, new_bytes);
    if (!valid)
        return false;
    memset(valid + old_bytes, 0, new_bytes - old_bytes);
    column->valid = valid;
    int64_t *values = roast__realloc(column->values, cap * sizeof(*values));
    if (!values)
        return false;
    column->values = values;
    column->cap = cap;
    return true;
}

bool roast__column_grow(struct roast_column *column, size_t cap)
{
    return !column->values || cap <= column->cap || resize(column, cap);
}

bool roast__column_reserve(struct roast_column *column, size_t cap)
{
    return cap <= column->cap || resize(column, cap);
}

void roast__column_release(struct roast_column *column)
{
    roast__free(column->values);
    roast__free(column->valid);
    memset(column, 0, sizeof(*column));
}
