/* SPDX-License-Identifier: BSD-3-Clause */
/* schedule_model.h - how long the chunks of a run would take after a change.
 *
 * The model replays what was recorded: jobs go, in the order of their starts, to the
 * thread that is free first, each after the gap that was recorded before it. So the
 * longest chunk, the tail and late workers are in it. A saving is the difference between
 * two replays, in proportion to the wall time that was measured. */
#ifndef ROAST_ANALYZE_FINDINGS_SCHEDULE_MODEL_H
#define ROAST_ANALYZE_FINDINGS_SCHEDULE_MODEL_H

#include "analyze/budget/budget.h"

/* Zeroed: no change. */
struct roast_schedule_change {
    uint64_t slices; /* bit n: seconds of slice n go: of chunks, other jobs, and gaps */
    uint64_t times;  /* the same of items of ladders that are no slices */
    double part;     /* so much of them; 0: all */
    bool all_threads_from_start;
    double longest_s;      /* no chunk takes longer; 0: no limit */
    size_t first_row;      /* the chunk of this attempt + 1 starts first; 0: none */
    int32_t first_dataset; /* those of this dataset (a string) + 1; 0: none */
    double
        threads; /* so many times as many, at most ROAST_MOST_TIMES; 0: as they were */
};

enum { ROAST_MOST_TIMES = 2 };

struct roast_schedule_model; /* opaque */

/* Returns owned; NULL when out of memory. Without a budget nothing is ever saved. */
struct roast_schedule_model *roast__schedule_model_new(
    const struct roast_summary_context *ctx);
void roast__schedule_model_free(struct roast_schedule_model *model);

/* Seconds that threads waited for jobs of a kind (roast_job.kind) to be sent, while there
 * were chunks; the first jobs of workers are left out. */
double roast__schedule_model_waits(const struct roast_schedule_model *model,
                                   enum roast_slice kind);

/* The wall time of chunks that was measured, that of its replay, and the part of it that a
 * change saves; negative: it takes longer. */
double roast__schedule_model_wall(const struct roast_schedule_model *model);
double roast__schedule_model_replayed(const struct roast_schedule_model *model);
double roast__schedule_model_saves(const struct roast_schedule_model *model,
                                   const struct roast_schedule_change *change);

#endif
