/* SPDX-License-Identifier: BSD-3-Clause */
/* column.h - one column of numbers in Arrow's layout.
 *
 * Contiguous values and a validity bitmap, least significant bit first. Zeroed = empty
 * and valid: a column without any known value takes no memory. */
#ifndef ROAST_BASE_COLUMN_H
#define ROAST_BASE_COLUMN_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct roast_column {
    int64_t *values; /* owned; NULL while nothing is known, not set where not valid */
    unsigned char *valid;
    size_t cap;
    size_t known; /* how many values are valid */
};

static inline bool roast__column_has(const struct roast_column *column, size_t row)
{
    return column->values && ((column->valid[row >> 3] >> (row & 7)) & 1);
}

/* The value, or `otherwise` where it is not known. */
static inline int64_t roast__column_get(const struct roast_column *column, size_t row,
                                        int64_t otherwise)
{
    return roast__column_has(column, row) ? column->values[row] : otherwise;
}

/* The value as a double; NaN where it is not known. */
static inline double roast__column_number(const struct roast_column *column, size_t row)
{
    return roast__column_has(column, row) ? (double)column->values[row] : NAN;
}

/* Sets the value of a reserved row. */
static inline void roast__column_put(struct roast_column *column, size_t row,
                                     int64_t value)
{
    column->known += !roast__column_has(column, row);
    column->valid[row >> 3] |= (unsigned char)(1u << (row & 7));
    column->values[row] = value;
}

/* Makes room for cap rows, so that setting one of them cannot fail; false when out of
 * memory. */
bool roast__column_reserve(struct roast_column *column, size_t cap);

/* The same, but only if the column has values. */
bool roast__column_grow(struct roast_column *column, size_t cap);

void roast__column_release(struct roast_column *column);

#endif
