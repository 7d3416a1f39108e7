/* SPDX-License-Identifier: BSD-3-Clause */
/* strings.h - every text once, known by a number from then on.
 *
 * Numbers count from 0 in the order in which the texts came. Blobs that repeat are kept
 * here too. */
#ifndef ROAST_RUN_STRINGS_H
#define ROAST_RUN_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_table.h"
#include "roast/text.h"

enum { ROAST_NO_STRING = -1, ROAST_STRING_NO_MEMORY = -2 };

/* Zeroed = empty and valid. */
struct roast_string_table {
    char *bytes; /* owned; all texts one behind the other */
    size_t bytes_used;
    size_t bytes_cap;
    size_t *ends; /* owned; where each text ends */
    size_t count;
    size_t cap;
    struct roast_hash_table slots;
};

/* The number of a text, which is copied when it is new; ROAST_NO_STRING for an absent
 * text. The text must not be one of these strings itself. */
int32_t roast__strings_put(struct roast_string_table *strings, struct roast_str text);

/* The same, but first looks whether it is the text with the number `likely`, or
 * ROAST_NO_STRING: records repeat what the record before them said. */
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
