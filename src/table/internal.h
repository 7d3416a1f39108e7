/* SPDX-License-Identifier: BSD-3-Clause */
/* internal.h - the fields of a roast_table. */
#ifndef ROAST_TABLE_INTERNAL_H
#define ROAST_TABLE_INTERNAL_H

#include <stdatomic.h>

#include "base/string_table.h"
#include "table/table.h"

/* One column; the fields that every access needs come first. */
struct roast_stored_column {
    unsigned char *values; /* owned; NULL without known values */
    unsigned char *valid;  /* bitmap of `cap` bits, behind the values in their block */
    size_t known;
    size_t width;                   /* bytes of a value */
    struct roast_table_column info; /* name, type, unit, text; the rest when finished */
    struct roast_string_table words; /* owned; in a list every text ends with NUL */
    char *joined; /* owned; of a finished list: the texts joined by ", " */
    int32_t last_word;
};

struct roast_table {
    atomic_size_t references;
    enum roast_table_id id;
    int first; /* roast_col of the first column */
    size_t rows;
    size_t cap;
    bool failed;
    const struct roast_table_parts *parts; /* borrowed; NULL: one part */
    void *zeros; /* owned; values and bitmap of columns without known values */
    size_t count;
    struct roast_stored_column columns[];
};

#endif
