/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_inside.h - the inside of an attempt, of a chunk record that is being read.
 *
 *     ladder, split  {slice: seconds}
 *     endpoints      {name: {requests, ranges, bytes, wait, errors}}
 *     file_metadata  the tree that was read; its branch_bytes go to the branches
 *     losses         {name: count}
 *     unavailable    {key: reason} */
#ifndef ROAST_COLLECT_MEASUREMENT_INSIDE_H
#define ROAST_COLLECT_MEASUREMENT_INSIDE_H

#include "collect/measurement_branches.h"

/* Zeroed = nothing known. */
struct roast_inside_draft {
    struct roast_ladder ladder;
    bool has_split;
    bool has_fetch_wait;
    struct roast_split split;
    bool has_endpoints;
    struct roast_rows_blob endpoints;
    bool has_file;
    struct roast_file_facts file;
    bool has_compressed, has_uncompressed, has_tree_bytes, has_ratio;
    double compressed, uncompressed, tree_bytes, ratio;
    uint64_t losses[ROAST_LOSS_END];
    unsigned char reasons[ROAST_FIELD_COUNT]; /* by field: why its own key is absent */
    uint64_t unexplained; /* bit n: a key of field n is there, or has no reason */

    unsigned char ladder_blob[ROAST_LADDER_BOUND_BYTES];
    unsigned char file_blob[ROAST_FILE_FACTS_BOUND_BYTES];
    unsigned char loss_blob[ROAST_LOSS_END * 11];
    unsigned char reason_blob[ROAST_FIELD_COUNT * 2];
};

void roast__inside_draft_clear(struct roast_inside_draft *draft);
void roast__inside_draft_release(struct roast_inside_draft *draft);

/* Read the dict under one of the keys. */
typedef int roast_inside_reader(struct roast_inside_draft *draft,
                                const struct roast_part *part);
roast_inside_reader roast__inside_draft_ladder;
roast_inside_reader roast__inside_draft_split;
roast_inside_reader roast__inside_draft_endpoints;
roast_inside_reader roast__inside_draft_losses;
roast_inside_reader roast__inside_draft_unavailable;
int roast__inside_draft_file(struct roast_inside_draft *draft,
                             struct roast_branch_draft *branches,
                             const struct roast_part *part);

/* Put into the record, which borrows the draft: the ladder; and the rest. False when out
 * of memory. */
void roast__inside_draft_put_ladder(struct roast_inside_draft *draft,
                                    roast_record *rec);
bool roast__inside_draft_put(struct roast_inside_draft *draft, roast_record *rec);

/* Fills in what a record of ours says by its split alone; `task_ns` of it. */
void roast__inside_draft_explain(struct roast_inside_draft *draft, roast_record *rec);

#endif
