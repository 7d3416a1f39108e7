/* SPDX-License-Identifier: BSD-3-Clause */
/* ramp_up.c - how long the run waited for its workers.
 *
 * From its first call of Runner.run until 90 % of its threads were available; the time of
 * the missing threads is summed. The threads of the run are the largest number that it
 * had for a tenth of the time, so that a worker which overlaps shortly with its
 * replacement does not count. Executors of this machine are available at once. */
#include <stdlib.h>

#include "analyze/calls.h"
#include "analyze/formulas.h"
#include "analyze/timeline.h"
#include "base/mem.h"

static const double PEAK_SHARE = 0.1; /* of the time in which a peak lasts */

/* An offer and the time in which it was valid. */
struct offer_interval {
    int64_t from_ns;
    int64_t to_ns;
    double threads;
    double workers;
};

/* From the first call to the end of the run. */
struct offer_intervals {
    struct offer_interval *all; /* owned */
    size_t count;
    int64_t start_ns;
    int64_t end_ns;
};

/* ---- offers over time ------------------------------------------------------------- */

/* When the first call of Runner.run began. */
static int64_t first_call_ns(const struct roast_summary_context *ctx)
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

/* When an offer becomes valid; the first one is valid before. */
static int64_t begin_of(const struct offer_intervals *offers,
                        const struct roast_run *run, size_t offer)
{
    if (offer >= run->offer_count)
        return offers->end_ns;
    return offer == 0 ? offers->start_ns
                      : roast__time_clamp(run->offers[offer].time_ns, offers->start_ns,
                                          offers->end_ns);
}

/* False when out of memory. */
static bool find_offers(struct offer_intervals *offers,
                        const struct roast_summary_context *ctx)
{
    const struct roast_run *run = ctx->run;

    offers->start_ns = first_call_ns(ctx);
    offers->end_ns = ctx->end_ns;
    offers->all = roast__alloc(run->offer_count * sizeof(offers->all[0]));
    for (size_t i = 0; offers->all && i < run->offer_count; i++) {
        struct offer_interval own = {.from_ns = begin_of(offers, run, i),
                                     .to_ns = begin_of(offers, run, i + 1),
                                     .threads = (double)run->offers[i].threads,
                                     .workers = (double)run->offers[i].workers};
        if (own.to_ns > own.from_ns) /* else it was replaced at the same time */
            offers->all[offers->count++] = own;
    }
    return offers->all != NULL;
}

static double seconds_of(const struct offer_interval *offer)
{
    return roast__seconds_between(offer->from_ns, offer->to_ns);
}

/* ---- the peak -------------------------------------------------------------------- */

static int by_threads(const void *a, const void *b)
{
    const struct offer_interval *left = a, *right = b;

    return (left->threads < right->threads) - (left->threads > right->threads);
}

/* Without threads it is not known. False when out of memory. */
static bool find_peak(struct offer_interval *peak, const struct offer_intervals *offers)
{
    double shortest_s =
        PEAK_SHARE * roast__seconds_between(offers->start_ns, offers->end_ns);
    double seconds = 0;

    if (offers->count == 0)
        return true;
    struct offer_interval *sorted = roast__alloc(offers->count * sizeof(sorted[0]));
    if (!sorted)
        return false;
    memcpy(sorted, offers->all, offers->count * sizeof(sorted[0]));
    qsort(sorted, offers->count, sizeof(sorted[0]), by_threads);
    for (size_t i = 0; i < offers->count && seconds < shortest_s; i++) {
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
    struct offer_intervals offers = {.all = NULL};
    struct offer_interval peak = {.threads = 0};

    if (ctx->run->offer_count > 0 &&
        (!find_offers(&offers, ctx) || !find_peak(&peak, &offers)))
        ctx->summary->failed = true;
    if (offers.all && peak.threads > 0) {
        double missing_s = 0;
        bool any = false;
        roast__table_row(table);
        for (size_t i = 0; i < offers.count; i++) {
            const struct offer_interval *offer = &offers.all[i];
            double waited_s = roast__seconds_between(offers.start_ns, offer->from_ns);
            if (offer->threads > 0 && !any)
                roast__fill_number(table, ROAST_COL_ramp_up_first_worker, waited_s);
            any |= offer->threads > 0;
            if (offer->threads >= ROAST_NEAR_PEAK * peak.threads) {
                roast__fill_number(table, ROAST_COL_ramp_up_seconds_to_90_percent,
                                   waited_s);
                break;
            }
            missing_s += (peak.threads - offer->threads) * seconds_of(offer);
        }
        roast__fill_number(table, ROAST_COL_ramp_up_thread_seconds_missing, missing_s);
        roast__fill_sum(table, ROAST_COL_ramp_up_first_threads, offers.all[0].threads);
        roast__fill_sum(table, ROAST_COL_ramp_up_threads, peak.threads);
        roast__fill_sum(table, ROAST_COL_ramp_up_workers, peak.workers);
    } else {
        roast__summary_unavailable(ctx->summary, "ramp_up",
                                   "the number of threads over time is not known");
    }
    roast__free(offers.all);
}
