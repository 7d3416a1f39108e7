/* SPDX-License-Identifier: BSD-3-Clause */
/* branch_costs.h - the cost of each branch, summed over the chunks that count.
 *
 * A 0 in a record is a measurement only if its attempt has a ladder; a value that no
 * chunk with the branch could measure is not known. */
#ifndef ROAST_ANALYZE_READS_BRANCH_COSTS_H
#define ROAST_ANALYZE_READS_BRANCH_COSTS_H

#include "analyze/key_table.h"
#include "analyze/record_iter.h"

/* One branch. */
struct roast_branch_cost {
    struct roast_str name; /* borrows the run */
    uint32_t file;         /* see roast__branch_costs_read() */
    unsigned flags;
    bool preloadable; /* used in a file from which coffea can preload */
    bool known;       /* seconds and reads */
    bool bytes_known;
    bool uncompressed_known;
    uint64_t chunks;
    double bytes;
    double uncompressed_bytes;
    double ns;
    double reads;
};

/* Zeroed = empty and valid. */
struct roast_branch_costs {
    struct roast_key_table names;
    struct roast_branch_cost *all; /* the values of `names` */
    size_t count;
    bool known; /* some record lists its reads */
    bool failed;
};

/* Sums all records. With file_of, which has a number for every source + 1 (the first:
 * rows without source), the branches of different files are kept apart. */
void roast__branch_costs_read(struct roast_branch_costs *costs,
                              const struct roast_summary_context *ctx,
                              const int32_t *file_of);
void roast__branch_costs_release(struct roast_branch_costs *costs);

/* Which zeros of a record are measurements; the others mean: not known. */
struct roast_branch_coverage {
    bool all;         /* 0 reads is a measurement */
    bool bytes;       /* 0 bytes is a measurement */
    bool preloadable; /* coffea can preload it: not from parquet */
};

struct roast_branch_coverage roast__branch_coverage(
    const struct roast_record_iter *iter);
void roast__branch_cost_add(struct roast_branch_cost *cost,
                            const struct roast_branch *branch,
                            struct roast_branch_coverage coverage);

#endif
