/* SPDX-License-Identifier: BSD-3-Clause */
/* groups.h - what the tables per dataset, file, worker and host have in common. */
#ifndef ROAST_ANALYZE_TOTALS_GROUPS_H
#define ROAST_ANALYZE_TOTALS_GROUPS_H

#include "analyze/summary.h"

/* Fills the columns that all these tables share; `first` is the column num_chunks. */
void roast__fill_group(roast_table *table, int first, const struct roast_group *group);

/* Items (files, processes) that come under one key. Zeroed = empty and valid. */
struct roast_keys {
    int32_t *key_of;            /* owned; per item: number of its key */
    int32_t *first_item;        /* owned; per key */
    struct roast_group *groups; /* owned; per key */
    size_t count;
};

/* Whether two items have the same key; and a hash that is equal if so. */
struct roast_key_rule {
    const void *context;
    bool (*same)(const void *context, size_t a, size_t b);
    uint64_t (*hash)(const void *context, size_t item);
};

/* Sources + 1 of a run by their file; the first item is of rows without source. */
struct roast_key_rule roast__by_file(const struct roast_attempts *attempts);

/* Joins items under their keys, in order of first appearance. Items that no attempt
 * belongs to have no key: -1. False when out of memory. */
bool roast__keys_join(struct roast_keys *keys, const struct roast_group *items,
                      size_t count, const struct roast_key_rule *rule);
void roast__keys_release(struct roast_keys *keys);

/* The highest memory that samples of a worker saw; NaN: none did. */
struct roast_worker_samples;
double roast__highest_memory(const struct roast_worker_samples *worker);

#endif
