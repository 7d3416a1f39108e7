/* SPDX-License-Identifier: BSD-3-Clause */
/* branch_costs.h - what each branch cost, summed over the chunks that count.
 *
 * Zeros of a record mean nothing was read only if its attempt was looked into; what no
 * chunk that read a branch could count is not known. */
#ifndef ROAST_ANALYZE_READS_BRANCH_COSTS_H
#define ROAST_ANALYZE_READS_BRANCH_COSTS_H

#include "analyze/name_table.h"
#include "analyze/record_iter.h"

/* One branch. */
struct roast_branch_cost {
    struct roast_str name; /* borrows the run */
    uint32_t group;
    unsigned flags;
    bool preloadable; /* used in a file that allows bulk reads */
    bool known;       /* seconds and reads */
    bool bytes_known;
    bool unpacked_known; /* uncompressed bytes */
    uint64_t chunks;
    double bytes;
    double uncompressed_bytes;
    double ns;
    double reads;
};

/* Zeroed = empty and valid. */
struct roast_branch_costs {
    struct roast_name_table names;
    struct roast_branch_cost *all; /* owned; by number of the name */
    size_t cap;
    bool known; /* some record lists its reads */
    bool failed;
};

/* Sums up all records. Branches of two groups are kept apart: group_of has the group of
 * every source + 1, the first of rows without; NULL: there is one. */
void roast__branch_costs_read(struct roast_branch_costs *costs,
                              const struct roast_summary_context *ctx,
                              const int32_t *group_of);
void roast__branch_costs_release(struct roast_branch_costs *costs);

/* Which zeros of a record were measured; the others mean: not known. */
struct roast_branch_coverage {
    bool all;         /* 0 reads were measured */
    bool bytes;       /* 0 bytes were measured */
    bool preloadable; /* coffea can read it in bulk: not from parquet */
};

struct roast_branch_coverage roast__branch_coverage(
    const struct roast_record_iter *iter);
void roast__branch_cost_add(struct roast_branch_cost *cost,
                            const struct roast_branch *branch,
                            struct roast_branch_coverage coverage);

#endif
