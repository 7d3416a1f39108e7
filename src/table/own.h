/* SPDX-License-Identifier: BSD-3-Clause */
/* own.h - the inside of a roast_table. */
#ifndef ROAST_TABLE_OWN_H
#define ROAST_TABLE_OWN_H

#include <stdatomic.h>

#include "base/string_table.h"
#include "table/table.h"

/* One column; what every value needs stands first. */
struct roast_own_column {
    unsigned char *values; /* owned; NULL while nothing is known */
    unsigned char *valid;  /* behind the values: as many bits as there is room for */
    size_t known;
    size_t width;                    /* bytes of a value */
    struct roast_table_column shown; /* name, type, unit, text; all when finished */
    struct roast_string_table words; /* owned; of a list, every text ends with a NUL */
    char *joined;                    /* owned; of a finished list: what is shown */
    int32_t last_word;
};

struct roast_table {
    atomic_size_t holders;
    enum roast_table_id id;
    int first; /* roast_col of the first column */
    size_t rows;
    size_t cap;
    bool failed;
    void *zeros; /* owned; values and bitmap of columns without any value */
    size_t count;
    struct roast_own_column columns[];
};

#endif
