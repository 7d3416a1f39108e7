/* SPDX-License-Identifier: BSD-3-Clause */
/* ladder.h - the ladders of the chunks that count, summed up. */
#ifndef ROAST_ANALYZE_READS_LADDER_H
#define ROAST_ANALYZE_READS_LADDER_H

#include "analyze/summary.h"
#include "roast/ladder.h"

struct roast_ladder_sums {
    uint64_t chunks;  /* that count */
    uint64_t ladders; /* those of them with a ladder */
    uint32_t known;   /* bit n: some ladder has item n */
    double items[ROAST_ITEM_COUNT];
    uint64_t without_hook[ROAST_HOOK_END]; /* chunks; by hook */
    uint64_t splits;            /* ladders with a split of time by CPU and waiting */
    uint64_t splits_with_fetch; /* those of them with the cause of waiting */
    double on_cpu_ns;
    double runqueue_ns;
    double fetch_wait_ns;
    double blocked_ns;
    double waiting_ns; /* of the others: fetch_wait + blocked */
};

/* Fills the table of missing hooks, and notes what is not known without them. Call it
 * after the tables of reads. */
void roast__put_missing_hooks(const struct roast_summary_context *ctx,
                              const struct roast_ladder_sums *sums);

/* Whether a file is parquet: pyarrow reads those, and its bytes are not counted. */
bool roast__reads_parquet(const roast_summary *summary);

#endif
