/* SPDX-License-Identifier: BSD-3-Clause */
/* ramp_up.c - how long the run waited for its workers.
 *
 * From its first call of the Runner, when it wanted them first, until nine of ten of its
 * threads were there; what the others would have done meanwhile is missing. Its threads
 * are the most that it had for a tenth of the time: a worker that is there for a moment,
 * beside the one that it takes the place of, was never missed. Executors of this machine
 * are there at once. */
#include <stdlib.h>

#include "analyze/calls.h"
#include "analyze/formulas.h"
#include "analyze/timeline.h"
#include "base/mem.h"

static const double LEAST_SHARE = 0.1; /* of the time, that a peak holds */

/* What was there for some time. */
struct hold {
    int64_t from_ns;
    int64_t to_ns;
    double threads;
    double workers;
};

/* Those from the first call on, one after the other. */
struct holds {
    struct hold *all; /* owned */
    size_t count;
    int64_t start_ns;
    int64_t end_ns;
};

/* ---- what was there -------------------------------------------------------------- */

/* When workers were wanted first. */
static int64_t wanted_from(const struct roast_summary_context *ctx)
{
    struct roast_calls calls = {0};
    int64_t from_ns = ctx->run->start_ns;

    if (!roast__calls_find(&calls, ctx->run))
        ctx->summary->failed = true;
    else if (calls.count > 0)
        from_ns = calls.calls[0].begin_ns;
    roast__calls_release(&calls);
    return roast__time_clamp(from_ns, ctx->run->start_ns, ctx->end_ns);
}

/* When an offer begins to hold; the first one did before. */
static int64_t from_of(const struct holds *holds, const struct roast_run *run,
                       size_t offer)
{
    if (offer >= run->offer_count)
        return holds->end_ns;
    return offer == 0 ? holds->start_ns
                      : roast__time_clamp(run->offers[offer].time_ns, holds->start_ns,
                                          holds->end_ns);
}

/* False when out of memory. */
static bool find_holds(struct holds *holds, const struct roast_summary_context *ctx)
{
    const struct roast_run *run = ctx->run;

    holds->start_ns = wanted_from(ctx);
    holds->end_ns = ctx->end_ns;
    holds->all = roast__alloc(run->offer_count * sizeof(holds->all[0]));
    for (size_t i = 0; holds->all && i < run->offer_count; i++) {
        struct hold hold = {.from_ns = from_of(holds, run, i),
                            .to_ns = from_of(holds, run, i + 1),
                            .threads = (double)run->offers[i].threads,
                            .workers = (double)run->offers[i].workers};
        if (hold.to_ns > hold.from_ns) /* else another one of the same moment holds */
            holds->all[holds->count++] = hold;
    }
    return holds->all != NULL;
}

static double seconds_of(const struct hold *hold)
{
    return roast__seconds_between(hold->from_ns, hold->to_ns);
}

/* ---- the most of it -------------------------------------------------------------- */

static int by_threads(const void *a, const void *b)
{
    const struct hold *left = a, *right = b;

    return (left->threads < right->threads) - (left->threads > right->threads);
}

/* No threads: not known. False when out of memory. */
static bool find_peak(struct hold *peak, const struct holds *holds)
{
    double least_s =
        LEAST_SHARE * roast__seconds_between(holds->start_ns, holds->end_ns);
    double seconds = 0;

    if (holds->count == 0)
        return true;
    struct hold *sorted = roast__alloc(holds->count * sizeof(sorted[0]));
    if (!sorted)
        return false;
    memcpy(sorted, holds->all, holds->count * sizeof(sorted[0]));
    qsort(sorted, holds->count, sizeof(sorted[0]), by_threads);
    for (size_t i = 0; i < holds->count && seconds < least_s; i++) {
        *peak = sorted[i];
        seconds += seconds_of(&sorted[i]);
    }
    roast__free(sorted);
    return true;
}

/* ---- the table ------------------------------------------------------------------- */

void roast__summarize_ramp_up(const struct roast_summary_context *ctx)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_ramp_up);
    struct holds holds = {.all = NULL};
    struct hold peak = {.threads = 0};

    if (ctx->run->offer_count > 0 &&
        (!find_holds(&holds, ctx) || !find_peak(&peak, &holds)))
        ctx->summary->failed = true;
    if (holds.all && peak.threads > 0) {
        double missing_s = 0;
        bool any = false;
        roast__table_row(table);
        for (size_t i = 0; i < holds.count; i++) {
            const struct hold *hold = &holds.all[i];
            double waited_s = roast__seconds_between(holds.start_ns, hold->from_ns);
            if (hold->threads > 0 && !any)
                roast__fill_number(table, ROAST_COL_ramp_up_first_worker, waited_s);
            any |= hold->threads > 0;
            if (hold->threads >= ROAST_NEAR_PEAK * peak.threads) {
                roast__fill_number(table, ROAST_COL_ramp_up_seconds_to_90_percent,
                                   waited_s);
                break;
            }
            missing_s += (peak.threads - hold->threads) * seconds_of(hold);
        }
        roast__fill_number(table, ROAST_COL_ramp_up_thread_seconds_missing, missing_s);
        roast__fill_sum(table, ROAST_COL_ramp_up_first_threads, holds.all[0].threads);
        roast__fill_sum(table, ROAST_COL_ramp_up_threads, peak.threads);
        roast__fill_sum(table, ROAST_COL_ramp_up_workers, peak.workers);
    } else {
        roast__summary_miss(ctx->summary, "ramp_up",
                            "nobody told when how many threads were there");
    }
    roast__free(holds.all);
}
