/* SPDX-License-Identifier: BSD-3-Clause */
/* tail.c - the end of a run: its last chunks and stragglers.
 *
 * The tail is that of the budget (phases.h). Of several calls of Runner.run the one with
 * the most expensive tail is described. Stragglers are those among the last chunks of
 * all threads that end later than their median by more than the median duration of a
 * chunk. */
#include "analyze/budget/budget.h"
#include "analyze/calls.h"
#include "analyze/formulas.h"
#include "analyze/heap.h"
#include "analyze/slow_chunk.h"
#include "analyze/timeline.h"
#include "base/mem.h"

enum { LAST_PART = 20, MOST_THREADS = 1 << 16, MOST_STRAGGLERS = 20 };

struct tail_search {
    const struct roast_summary_context *ctx;
    struct roast_calls calls;
    int32_t call; /* the one that is described */
    size_t chunks;
    const struct roast_tail *tail;
    int64_t last_part_ns; /* when the last 5 % of them started */
    size_t last;          /* row of the chunk that ended last */
    size_t still_running; /* chunks at the begin of the tail */
    struct roast_typical_chunk typical;
    double median_s; /* duration of a chunk */
    struct roast_hosts_seen hosts;
};

/* ---- chunks ---------------------------------------------------------------------- */

/* Whether a row counts for a chunk of a call, and its times. */
static bool is_chunk_of(const struct tail_search *search, int32_t call, size_t row,
                        int64_t times[2])
{
    if (!roast__is_chunk(search->ctx, row))
        return false;
    if (search->calls.count > 0 && search->calls.of_row[row] != call)
        return false;
    return roast__attempt_times(&search->ctx->run->attempts, row, &times[0], &times[1]);
}

static bool is_chunk(const struct tail_search *search, size_t row, int64_t times[2])
{
    return is_chunk_of(search, search->call, row, times);
}

/* The call with chunks whose tail cost most; of equal ones that with most chunks. False
 * when out of memory. */
static bool choose_call(struct tail_search *search)
{
    const struct roast_phases *phases = &search->ctx->budget->phases;

    if (!roast__calls_find(&search->calls, search->ctx->run))
        return false;
    size_t *counts = roast__alloc(phases->tail_count * sizeof(counts[0]));
    if (!counts)
        return false;
    const struct roast_attempts *attempts = &search->ctx->run->attempts;
    for (size_t row = 0; row < attempts->count; row++) {
        int32_t call = search->calls.count > 0 ? search->calls.of_row[row] : 0;
        int64_t times[2];
        if (call != ROAST_NO_CALL)
            counts[call] += is_chunk_of(search, call, row, times);
    }
    double most_s = -1;
    for (size_t i = 0; i < phases->tail_count; i++) {
        double lost_s = roast__tail_lost_s(phases, &phases->tails[i]);
        if (counts[i] == 0 || lost_s < most_s ||
            (lost_s == most_s && counts[i] <= search->chunks))
            continue;
        most_s = lost_s;
        search->call = (int32_t)i;
        search->chunks = counts[i];
        search->tail = &phases->tails[i];
    }
    roast__free(counts);
    return true;
}

/* ---- the tail -------------------------------------------------------------------- */

/* The last chunks by start and by end; false when out of memory. */
static bool find_last(struct tail_search *search)
{
    size_t last = search->chunks / LAST_PART > 0 ? search->chunks / LAST_PART : 1;
    struct roast_keyed *starts = roast__alloc(last * sizeof(starts[0]));
    size_t count = 0;
    int64_t end_ns = INT64_MIN;

    for (size_t row = search->ctx->run->attempts.count; starts && row-- > 0;) {
        int64_t times[2];
        if (!is_chunk(search, row, times))
            continue;
        roast__heap_push_bounded(starts, &count, last,
                                 (struct roast_keyed){times[0], (uint32_t)row});
        search->still_running += times[1] > search->tail->from_ns;
        if (times[1] >= end_ns) {
            end_ns = times[1];
            search->last = row;
        }
    }
    if (starts)
        search->last_part_ns = starts[0].key;
    roast__free(starts);
    return starts != NULL;
}

static bool is_member(const void *search, size_t row)
{
    int64_t times[2];

    return is_chunk(search, row, times);
}

/* ---- stragglers ------------------------------------------------------------------ */

static bool is_repeat(const struct tail_search *search, size_t row)
{
    const struct roast_retry *retry =
        roast__roles_retry(&search->ctx->totals->roles, row);

    return retry && retry->attempt > 1;
}

static bool is_long(const struct tail_search *search, double took_s)
{
    return took_s > 1.5 * search->median_s;
}

static const char *cause_of(struct tail_search *search, size_t row, double took_s)
{
    if (is_repeat(search, row))
        return "tried again";
    if (!is_long(search, took_s))
        return "began late";
    double excess_s = took_s - search->median_s;
    double events = roast__column_number(
        &search->ctx->run->attempts.columns[ROAST_COLUMN_num_events], row);
    if ((events / search->typical.events - 1) * search->median_s > excess_s / 2)
        return "more events"; /* at the usual rate */
    return roast__slow_chunk_cause(&search->typical, search->ctx, row, excess_s,
                                   &search->hosts);
}

static int32_t host_of(const struct roast_run *run, size_t row)
{
    int32_t host = run->attempts.processes[run->attempts.process[row]].host;

    return host != ROAST_NO_STRING ? host : run->host;
}

static void put_straggler(struct tail_search *search, roast_table *table, size_t row,
                          double after_s)
{
    const struct roast_summary_context *ctx = search->ctx;
    const struct roast_attempts *attempts = &ctx->run->attempts;
    int64_t times[2] = {0, 0};

    roast__table_row(table);
    (void)is_chunk(search, row, times);
    double took_s = roast__seconds_between(times[0], times[1]);
    roast__fill_chunk(table, ROAST_COL_stragglers_dataset, ctx, row);
    roast__fill_worker(table, ROAST_COL_stragglers_worker, ctx,
                       (size_t)attempts->process[row]);
    roast__fill_text(table, ROAST_COL_stragglers_host,
                     roast__context_text(ctx, host_of(ctx->run, row)));
    roast__fill_number(table, ROAST_COL_stragglers_seconds, took_s);
    roast__fill_number(table, ROAST_COL_stragglers_ends_after, after_s);
    roast__fill_string(table, ROAST_COL_stragglers_cause,
                       cause_of(search, row, took_s));
}

/* False when out of memory. */
static bool find_stragglers(struct tail_search *search, roast_table *table)
{
    size_t most = search->chunks < MOST_THREADS ? search->chunks : MOST_THREADS;
    size_t threads =
        search->tail->threads < most ? (size_t)search->tail->threads : most;

    if (threads < 2)
        return true; /* no other thread waits */
    struct roast_keyed *ends = roast__alloc(threads * sizeof(ends[0]));
    size_t count = 0;
    for (size_t row = search->ctx->run->attempts.count; ends && row-- > 0;) {
        int64_t times[2];
        if (is_chunk(search, row, times))
            roast__heap_push_bounded(ends, &count, threads,
                                     (struct roast_keyed){times[1], (uint32_t)row});
    }
    if (ends) {
        roast__heap_sort(ends, count);
        int64_t median_ns = ends[count / 2].key;
        for (size_t i = 0; i < count && i < MOST_STRAGGLERS; i++) {
            double after_s = roast__seconds_between(median_ns, ends[i].key);
            if (!(after_s > search->median_s))
                break;
            put_straggler(search, table, ends[i].item, after_s);
        }
    }
    roast__free(ends);
    return ends != NULL;
}

/* ---- tables ---------------------------------------------------------------------- */

static void put_tail(struct tail_search *search, roast_table *table)
{
    const struct roast_summary_context *ctx = search->ctx;
    const struct roast_tail *tail = search->tail;

    roast__table_row(table);
    roast__fill_number(
        table, ROAST_COL_tail_last_5_percent_start,
        roast__seconds_between(ctx->run->start_ns, search->last_part_ns));
    roast__fill_number(table, ROAST_COL_tail_median_seconds, search->median_s);
    const struct roast_attempts *attempts = &ctx->run->attempts;
    int32_t source = attempts->source[search->last];
    int64_t times[2] = {0, 0};
    (void)is_chunk(search, search->last, times);
    double took_s = roast__seconds_between(times[0], times[1]);
    if (source >= 0) {
        roast__fill_text(table, ROAST_COL_tail_last_dataset,
                         roast__context_text(ctx, attempts->sources[source].dataset));
        roast__fill_text(table, ROAST_COL_tail_last_file,
                         roast__context_text(ctx, attempts->sources[source].file));
    }
    roast__fill_text(table, ROAST_COL_tail_last_host,
                     roast__context_text(ctx, host_of(ctx->run, search->last)));
    roast__fill_number(table, ROAST_COL_tail_last_seconds, took_s);
    if (is_long(search, took_s) || is_repeat(search, search->last))
        roast__fill_string(table, ROAST_COL_tail_last_cause,
                           cause_of(search, search->last, took_s));
    if (!tail->any) {
        roast__summary_unavailable(ctx->summary, "tail",
                                   "the number of threads is not known");
        return;
    }
    roast__fill_number(table, ROAST_COL_tail_start,
                       roast__seconds_between(ctx->run->start_ns, tail->from_ns));
    roast__fill_number(table, ROAST_COL_tail_seconds,
                       roast__seconds_between(tail->from_ns, tail->to_ns));
    roast__fill_number(table, ROAST_COL_tail_thread_seconds_lost,
                       roast__tail_lost_s(&ctx->budget->phases, tail));
    roast__fill_count(table, ROAST_COL_tail_chunks, search->still_running);
}

void roast__summarize_tail(const struct roast_summary_context *ctx)
{
    struct roast_summary *summary = ctx->summary;
    roast_table *tail = roast__summary_open(summary, ROAST_TABLE_tail);
    roast_table *stragglers = roast__summary_open(summary, ROAST_TABLE_stragglers);
    struct tail_search search = {.ctx = ctx};
    bool done = choose_call(&search);

    if (done && search.chunks == 0) {
        roast__summary_unavailable(summary, "tail", "no chunk was successful");
    } else if (done) {
        done = find_last(&search) &&
               roast__typical_chunk_find(&search.typical, ctx, is_member, &search);
        search.median_s = search.typical.medians[ROAST_PART_all];
        if (done)
            put_tail(&search, tail);
        ctx->budget->phases.last_row = search.last;
        done = done && find_stragglers(&search, stragglers);
    }
    summary->failed |= !done;
    roast__calls_release(&search.calls);
}
