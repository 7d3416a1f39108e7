/* SPDX-License-Identifier: BSD-3-Clause */
/* string_table.h - stores every text once and gives it a number.
 *
 * Numbers count from 0 in order of first use. Repeated blobs are stored here too. */
#ifndef ROAST_BASE_STRING_TABLE_H
#define ROAST_BASE_STRING_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_table.h"
#include "roast/text.h"

enum { ROAST_NO_STRING = -1, ROAST_STRING_NO_MEMORY = -2 };

/* Zeroed = empty and valid. */
struct roast_string_table {
    char *bytes; /* owned; all texts, concatenated */
    size_t bytes_used;
    size_t bytes_cap;
    size_t *ends; /* owned; where each text ends */
    size_t count;
    size_t cap;
    struct roast_hash_table slots;
};

/* The number of a text, which is copied when it is new; ROAST_NO_STRING for an absent
 * text. The text must not point into this table. */
int32_t roast__strings_put(struct roast_string_table *strings, struct roast_str text);

/* The same, but first compares with the text of number `likely` (or ROAST_NO_STRING):
 * consecutive records often have the same text. */
int32_t roast__strings_put_again(struct roast_string_table *strings,
                                 struct roast_str text, int32_t likely);

/* The number of a text that was put before, or ROAST_NO_STRING. */
int32_t roast__strings_find(const struct roast_string_table *strings,
                            struct roast_str text);

/* The text of a number, borrowed until the next put; absent for ROAST_NO_STRING. */
struct roast_str roast__strings_get(const struct roast_string_table *strings,
                                    int32_t id);

void roast__strings_release(struct roast_string_table *strings);

#endif
