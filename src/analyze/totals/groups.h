/* SPDX-License-Identifier: BSD-3-Clause */
/* groups.h - the common part of the tables per dataset, file, worker and host. */
#ifndef ROAST_ANALYZE_TOTALS_GROUPS_H
#define ROAST_ANALYZE_TOTALS_GROUPS_H

#include "analyze/key_table.h"
#include "analyze/summary.h"

/* Fills the columns that all these tables have; `first` is the column num_chunks. */
void roast__fill_group(roast_table *table, int first, const struct roast_group *group);

/* Items (sources, processes) with the same key, joined. Zeroed = empty and valid. */
struct roast_keys {
    int32_t *key_of;            /* owned; per item: number of its key */
    int32_t *first_item;        /* owned; per key */
    struct roast_group *groups; /* owned; per key */
    size_t count;
};

typedef struct roast_key roast_key_of(const void *context, size_t item);

/* Joins items in order of first appearance. Items without attempts have no key: -1.
 * False when out of memory. */
bool roast__keys_join(struct roast_keys *keys, const struct roast_group *items,
                      size_t count, roast_key_of *key_of, const void *context);
void roast__keys_release(struct roast_keys *keys);

/* The same with the sources + 1 of a run; item 0 is the rows without source. The context
 * of key_of is the roast_attempts. */
bool roast__join_sources(struct roast_keys *keys,
                         const struct roast_summary_context *ctx, roast_key_of *key_of);

/* Source number item - 1; without names for item 0. */
const struct roast_source *roast__source_item(const struct roast_attempts *attempts,
                                              size_t item);

/* By name of the file; by dataset and file. */
roast_key_of roast__key_of_file, roast__key_of_dataset_file;

/* The highest sampled memory of a worker; NaN: not known. */
struct roast_worker_samples;
double roast__highest_memory(const struct roast_worker_samples *worker);

#endif
