/* SPDX-License-Identifier: BSD-3-Clause */
/* name_table.h - names that records hold, numbered in order of appearance.
 *
 * A group keeps names apart that are the same text: branches of one file from those of
 * another. Names borrow the run. */
#ifndef ROAST_ANALYZE_NAME_TABLE_H
#define ROAST_ANALYZE_NAME_TABLE_H

#include "base/hash_table.h"
#include "roast/text.h"

struct roast_name_key {
    struct roast_str name;
    uint32_t group;
};

/* Zeroed = empty and valid. */
struct roast_name_table {
    struct roast_name_key *keys; /* owned; by number */
    size_t count;
    size_t cap;
    struct roast_hash_table slots;
};

enum { ROAST_NO_GUESS = -1 };

/* The number of a name, added when it is new; -1 when out of memory. Looks at the
 * number `guess` first: records name the same things in the same order. */
int64_t roast__name_number(struct roast_name_table *table, struct roast_name_key key,
                           int64_t guess);

/* Names by their bytes: negative, 0 or positive, as qsort() wants it. */
int roast__compare_names(struct roast_str a, struct roast_str b);

void roast__name_table_release(struct roast_name_table *table);

#endif
