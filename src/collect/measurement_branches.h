/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_branches.h - the branches of a chunk record that is being read.
 *
 *     branches           {name: {bytes, uncompressed_bytes, seconds, reads}}
 *     accessed_branches  [name, ...]; offset_branches the same
 *     branch_bytes       {name: bytes in the file}, of file_metadata */
#ifndef ROAST_COLLECT_MEASUREMENT_BRANCHES_H
#define ROAST_COLLECT_MEASUREMENT_BRANCHES_H

#include "collect/measurement_sizes.h"

/* In this order their names come into the blob. */
enum roast_branch_list {
    ROAST_BRANCHES_READ,
    ROAST_BRANCHES_ACCESSED,
    ROAST_BRANCHES_OFFSETS,
    ROAST_BRANCH_LISTS
};

/* Zeroed = empty and valid. */
struct roast_branch_draft {
    struct roast_buf entries; /* of all lists, as they come; see the .c */
    size_t count;
    bool has_list[ROAST_BRANCH_LISTS];
    bool has_sizes;
    struct roast_rows_blob sizes; /* branch_bytes, as the blob it becomes */
    struct roast_rows_blob rows;
};

void roast__branch_draft_clear(struct roast_branch_draft *draft);
void roast__branch_draft_release(struct roast_branch_draft *draft);

/* Read the value under `branches`, one of the lists of names, or `branch_bytes`. */
int roast__branch_draft_costs(struct roast_branch_draft *draft,
                              const struct roast_part *part);
int roast__branch_draft_names(struct roast_branch_draft *draft,
                              enum roast_branch_list list,
                              const struct roast_part *part);
int roast__branch_draft_sizes(struct roast_branch_draft *draft,
                              const struct roast_part *part);

/* What is known of the sizes in the file of branches that were looked at: those of the
 * table, or what they add up to; `by_sums`: rows are made to add up to that. */
struct roast_branch_sizes {
    struct roast_size_table table;
    bool by_sums;
    bool sums_known;
    uint64_t file_bytes;
    uint64_t file_uncompressed_bytes;
};

/* The same for the same names under `accessed_branches`, in any order. */
uint64_t roast__branch_draft_hash(const struct roast_branch_draft *draft);

/* Puts `branches` and `file_branches` into the record, which borrows the draft. False
 * when out of memory. */
bool roast__branch_draft_put(struct roast_branch_draft *draft,
                             const struct roast_branch_sizes *sizes, roast_record *rec);

#endif
