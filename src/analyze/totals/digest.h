/* SPDX-License-Identifier: BSD-3-Clause */
/* digest.h - what a block of rows sums up to (store/digests.h).
 *
 * Its rows are taken for the only attempts at their chunks: where one is a repeat,
 * the block has to be summed up anew. */
#ifndef ROAST_ANALYZE_TOTALS_DIGEST_H
#define ROAST_ANALYZE_TOTALS_DIGEST_H

#include "analyze/totals/row_sums.h"

/* The rows of one source. */
struct roast_digest_part {
    int32_t source;       /* -1: of none */
    bool grows;           /* from row to row the first entry does */
    uint64_t first_entry; /* of the first row that has entries */
    uint64_t next_entry;  /* one past the highest first one; 0: no row has entries */
};

struct roast_digest {
    struct roast_row_sums sums;
    struct roast_bucket_counts durations_ns;
    struct roast_bucket_counts ns_per_event;
    int64_t latest_ns; /* end of an attempt, INT64_MIN: nobody knows; see `moved` */
    size_t part_count;
    struct roast_digest_part *parts; /* owned */
    struct roast_group *groups;      /* owned; per part */
};

#endif
