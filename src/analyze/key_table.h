/* SPDX-License-Identifier: BSD-3-Clause */
/* key_table.h - numbers distinct keys in order of appearance, with a value for each.
 *
 * A key is a name, two numbers, or both: `a` keeps equal names apart, for example the
 * branches of different files. Names borrow the run. */
#ifndef ROAST_ANALYZE_KEY_TABLE_H
#define ROAST_ANALYZE_KEY_TABLE_H

#include "base/hash_table.h"
#include "roast/text.h"

struct roast_key {
    struct roast_str name;
    uint64_t a;
    uint64_t b;
};

/* Zeroed, except for value_bytes = empty and valid. */
struct roast_key_table {
    struct roast_key *keys; /* owned; by number */
    size_t count;
    size_t cap;
    struct roast_hash_table slots;
    void *values;       /* owned; by number, zeroed when a key is added */
    size_t value_bytes; /* 0: keys only */
    size_t value_cap;
};

enum { ROAST_NO_HINT = -1 };

/* The number of a key, added if it is new; -1 when out of memory. Tries the number
 * `hint` first: most records name the same things in the same order. */
int64_t roast__key_number(struct roast_key_table *table, struct roast_key key,
                          int64_t hint);

void roast__key_table_release(struct roast_key_table *table);

#endif
