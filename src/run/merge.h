/* SPDX-License-Identifier: BSD-3-Clause */
/* merge.h - merges a frame into the row of its attempt. */
#ifndef ROAST_RUN_MERGE_H
#define ROAST_RUN_MERGE_H

#include "roast/record.h"

struct roast_run;

/* The task of a cluster in which an attempt ran. */
struct roast_task_link {
    int32_t worker; /* its address, number of a string, or ROAST_NO_STRING */
    uint32_t key_hash;
};

/* The result of merging a frame. */
enum roast_merged {
    ROAST_MERGED_NEW,
    ROAST_MERGED_REPEATED,
    ROAST_MERGED_LINKED, /* repeated, but its task was not known */
    ROAST_MERGED_NO_MEMORY
};

/* Adds a frame of one of the three kinds; id is NULL for a record without identity,
 * link where the task is not known. *row_out gets the row of its attempt. When memory
 * runs out nothing of the frame is kept, and it may be added again. */
enum roast_merged roast__merge(struct roast_run *run, size_t *row_out,
                               const struct roast_identity *id,
                               const struct roast_task_link *link,
                               const roast_record *rec);

#endif
