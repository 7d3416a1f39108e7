/* SPDX-License-Identifier: BSD-3-Clause */
/* names.h - names of datasets and files by the 32-bit ids of begin frames.
 *
 * Two names may have the same id. Then the id says nothing: no name is better than the
 * wrong one. */
#ifndef ROAST_RUN_NAMES_H
#define ROAST_RUN_NAMES_H

#include "base/string_table.h"

/* Zeroed = empty and valid. */
struct roast_names {
    struct roast_name *items; /* owned */
    size_t count;
    size_t cap;
    struct roast_hash_table slots; /* by id */
};

struct roast_name {
    uint32_t id;
    int32_t text; /* number of a string */
};

/* Learns a text of strings; false when out of memory. Nothing for ROAST_NO_STRING. */
bool roast__names_learn(struct roast_names *names,
                        const struct roast_string_table *strings, int32_t text);

/* Whether a text of strings was learned. */
bool roast__names_has(const struct roast_names *names,
                      const struct roast_string_table *strings, int32_t text);

/* The number of the text with this id; ROAST_NO_STRING where none or several have it,
 * and for id 0, which says that there was no name. */
int32_t roast__names_find(const struct roast_names *names, uint32_t id);

void roast__names_release(struct roast_names *names);

#endif
