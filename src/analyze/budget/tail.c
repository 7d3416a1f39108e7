/* SPDX-License-Identifier: BSD-3-Clause */
/* tail.c - the end of a run: the last chunks, and who kept the others waiting.
 *
 * The tail is that of the budget (phases.h): from when no chunk is left to begin and a
 * thread has none. Of several calls of the Runner the one is taken whose tail cost
 * most. Every thread has a last chunk: those that end far behind the median of these,
 * further than a chunk takes, are the stragglers. */
#include "analyze/budget/budget.h"
#include "analyze/calls.h"
#include "analyze/formulas.h"
#include "analyze/recorded.h"
#include "analyze/timeline.h"
#include "analyze/top_n.h"
#include "base/mem.h"

enum { LAST_PART = 20, MOST_THREADS = 1 << 16, MOST_STRAGGLERS = 20 };

struct looking {
    const struct roast_summary_context *ctx;
    struct roast_calls calls;
    int32_t call; /* whose tail is described */
    size_t chunks;
    const struct roast_tail *tail;
    int64_t last_part_ns; /* when the last few of them began */
    size_t last;          /* row of the one that ended last */
    size_t still_running; /* when the tail began */
    double median_s;      /* that a chunk takes */
    double median_events;
    double median_wait_s;
    struct roast_hosts_seen hosts;
};

/* ---- chunks ---------------------------------------------------------------------- */

/* Whether a row stands for a chunk of a call, and when it began and ended. */
static bool is_chunk_of(const struct looking *looking, int32_t call, size_t row,
                        int64_t times[2])
{
    if (!roast__is_chunk(looking->ctx, row))
        return false;
    if (looking->calls.count > 0 && looking->calls.of_row[row] != call)
        return false;
    return roast__attempt_times(&looking->ctx->run->attempts, row, &times[0],
                                &times[1]);
}

static bool is_chunk(const struct looking *looking, size_t row, int64_t times[2])
{
    return is_chunk_of(looking, looking->call, row, times);
}

/* The call whose tail cost most, of those with chunks; of equal ones that with most
 * chunks. False when out of memory. */
static bool choose_call(struct looking *looking)
{
    const struct roast_phases *phases = &looking->ctx->budget->phases;

    if (!roast__calls_find(&looking->calls, looking->ctx->run))
        return false;
    size_t *counts = roast__alloc(phases->tail_count * sizeof(counts[0]));
    if (!counts)
        return false;
    const struct roast_attempts *attempts = &looking->ctx->run->attempts;
    for (size_t row = 0; row < attempts->count; row++) {
        int32_t call = looking->calls.count > 0 ? looking->calls.of_row[row] : 0;
        int64_t times[2];
        if (call != ROAST_NO_CALL)
            counts[call] += is_chunk_of(looking, call, row, times);
    }
    double most_s = -1;
    for (size_t i = 0; i < phases->tail_count; i++) {
        double lost_s = roast__tail_lost_s(phases, &phases->tails[i]);
        if (counts[i] == 0 || lost_s < most_s ||
            (lost_s == most_s && counts[i] <= looking->chunks))
            continue;
        most_s = lost_s;
        looking->call = (int32_t)i;
        looking->chunks = counts[i];
        looking->tail = &phases->tails[i];
    }
    roast__free(counts);
    return true;
}

/* ---- the tail -------------------------------------------------------------------- */

/* Who was there in the end; false when out of memory. */
static bool find_last(struct looking *looking)
{
    size_t last = looking->chunks / LAST_PART > 0 ? looking->chunks / LAST_PART : 1;
    struct roast_top_n begins = {0};
    bool found = roast__top_n_init(&begins, last);
    int64_t end_ns = INT64_MIN;

    for (size_t row = looking->ctx->run->attempts.count; found && row-- > 0;) {
        int64_t times[2];
        if (!is_chunk(looking, row, times))
            continue; /* the latest are the last ones, or nearly */
        roast__top_n_add(&begins, times[0], (uint32_t)row);
        looking->still_running += times[1] > looking->tail->from_ns;
        if (times[1] >= end_ns) {
            end_ns = times[1];
            looking->last = row;
        }
    }
    if (found)
        looking->last_part_ns = begins.items[0].time_ns;
    roast__top_n_release(&begins);
    return found;
}

/* ---- what is usual --------------------------------------------------------------- */

static double column_of(const struct looking *looking, enum roast_attempt_column column,
                        size_t row)
{
    return roast__column_number(&looking->ctx->run->attempts.columns[column], row);
}

/* Seconds inside process() without the CPU; NaN: not known. */
static double wait_of(const struct looking *looking, size_t row)
{
    double wait_ns = column_of(looking, ROAST_COLUMN_duration_ns, row) -
                     column_of(looking, ROAST_COLUMN_cpu_ns, row);

    return wait_ns < 0 ? 0 : wait_ns / 1e9;
}

/* False when out of memory. */
static bool find_usual(struct looking *looking)
{
    struct roast_quantiles taken = {0}, events = {0}, waits = {0};

    for (size_t row = 0; row < looking->ctx->run->attempts.count; row++) {
        int64_t times[2];
        if (!is_chunk(looking, row, times))
            continue;
        double took_s = roast__seconds_between(times[0], times[1]);
        double count = column_of(looking, ROAST_COLUMN_num_events, row);
        double wait_s = wait_of(looking, row);
        roast__quantiles_add(&taken, &took_s, 1);
        roast__quantiles_add(&events, &count, 1);
        roast__quantiles_add(&waits, &wait_s, 1);
    }
    looking->median_s = roast__quantiles_get(&taken, 0.5);
    looking->median_events = roast__quantiles_get(&events, 0.5);
    looking->median_wait_s = roast__quantiles_get(&waits, 0.5);
    bool found = !taken.failed && !events.failed && !waits.failed;
    roast__quantiles_release(&taken);
    roast__quantiles_release(&events);
    roast__quantiles_release(&waits);
    return found;
}

/* ---- stragglers ------------------------------------------------------------------ */

static bool is_repeat(const struct looking *looking, size_t row)
{
    const struct roast_tried *tried =
        roast__roles_tried(&looking->ctx->totals->roles, row);

    return tried && tried->attempt > 1;
}

static bool is_long(const struct looking *looking, double took_s)
{
    return took_s > 1.5 * looking->median_s;
}

static const char *cause_of(struct looking *looking, size_t row, double took_s)
{
    const struct roast_attempts *attempts = &looking->ctx->run->attempts;
    double excess_s = took_s - looking->median_s;

    if (is_repeat(looking, row))
        return "tried again";
    if (!is_long(looking, took_s))
        return "began late";
    if (column_of(looking, ROAST_COLUMN_num_events, row) > 1.5 * looking->median_events)
        return "more events";
    if (wait_of(looking, row) - looking->median_wait_s > 0.5 * excess_s)
        return "waited longer"; /* for storage, a core or the GIL */
    if (roast__is_slow_host(&looking->hosts, looking->ctx,
                            attempts->processes[attempts->process[row]].host))
        return "slow host";
    return "more work per event";
}

static int32_t host_of(const struct roast_run *run, size_t row)
{
    int32_t host = run->attempts.processes[run->attempts.process[row]].host;

    return host != ROAST_NO_STRING ? host : run->host;
}

static void put_straggler(struct looking *looking, roast_table *table, size_t row,
                          double after_s)
{
    const struct roast_summary_context *ctx = looking->ctx;
    const struct roast_attempts *attempts = &ctx->run->attempts;
    int32_t source = attempts->source[row];
    int64_t times[2] = {0, 0};

    roast__table_row(table);
    (void)is_chunk(looking, row, times);
    double took_s = roast__seconds_between(times[0], times[1]);
    if (source >= 0) {
        roast__fill_text(table, ROAST_COL_stragglers_dataset,
                         roast__context_text(ctx, attempts->sources[source].dataset));
        roast__fill_text(table, ROAST_COL_stragglers_file,
                         roast__context_text(ctx, attempts->sources[source].file));
    }
    roast__fill_sum(table, ROAST_COL_stragglers_entry_start,
                    column_of(looking, ROAST_COLUMN_entry_start, row));
    roast__fill_sum(table, ROAST_COL_stragglers_entry_stop,
                    column_of(looking, ROAST_COLUMN_entry_stop, row));
    roast__fill_worker(table, ROAST_COL_stragglers_worker, ctx,
                       (size_t)attempts->process[row]);
    roast__fill_text(table, ROAST_COL_stragglers_host,
                     roast__context_text(ctx, host_of(ctx->run, row)));
    roast__fill_number(table, ROAST_COL_stragglers_seconds, took_s);
    roast__fill_number(table, ROAST_COL_stragglers_ends_after, after_s);
    roast__fill_string(table, ROAST_COL_stragglers_cause,
                       cause_of(looking, row, took_s));
}

/* False when out of memory. */
static bool find_stragglers(struct looking *looking, roast_table *table)
{
    struct roast_top_n ends = {0};
    size_t most = looking->chunks < MOST_THREADS ? looking->chunks : MOST_THREADS;
    size_t threads =
        looking->tail->threads < most ? (size_t)looking->tail->threads : most;

    if (threads < 2)
        return true; /* no thread waits */
    bool found = roast__top_n_init(&ends, threads);
    for (size_t row = looking->ctx->run->attempts.count; found && row-- > 0;) {
        int64_t times[2];
        if (is_chunk(looking, row, times))
            roast__top_n_add(&ends, times[1], (uint32_t)row);
    }
    if (found) {
        roast__top_n_sort(&ends); /* the last one first */
        int64_t median_ns = ends.items[ends.count / 2].time_ns;
        for (size_t i = 0; i < ends.count && i < MOST_STRAGGLERS; i++) {
            double after_s = roast__seconds_between(median_ns, ends.items[i].time_ns);
            if (!(after_s > looking->median_s))
                break;
            put_straggler(looking, table, ends.items[i].row, after_s);
        }
    }
    roast__top_n_release(&ends);
    return found;
}

/* ---- tables ---------------------------------------------------------------------- */

static void put_tail(struct looking *looking, roast_table *table)
{
    const struct roast_summary_context *ctx = looking->ctx;
    const struct roast_tail *tail = looking->tail;

    roast__table_row(table);
    roast__fill_number(
        table, ROAST_COL_tail_last_5_percent_start,
        roast__seconds_between(ctx->run->start_ns, looking->last_part_ns));
    roast__fill_number(table, ROAST_COL_tail_median_seconds, looking->median_s);
    const struct roast_attempts *attempts = &ctx->run->attempts;
    int32_t source = attempts->source[looking->last];
    int64_t times[2] = {0, 0};
    (void)is_chunk(looking, looking->last, times);
    double took_s = roast__seconds_between(times[0], times[1]);
    if (source >= 0) {
        roast__fill_text(table, ROAST_COL_tail_last_dataset,
                         roast__context_text(ctx, attempts->sources[source].dataset));
        roast__fill_text(table, ROAST_COL_tail_last_file,
                         roast__context_text(ctx, attempts->sources[source].file));
    }
    roast__fill_text(table, ROAST_COL_tail_last_host,
                     roast__context_text(ctx, host_of(ctx->run, looking->last)));
    roast__fill_number(table, ROAST_COL_tail_last_seconds, took_s);
    if (is_long(looking, took_s) || is_repeat(looking, looking->last))
        roast__fill_string(table, ROAST_COL_tail_last_cause,
                           cause_of(looking, looking->last, took_s));
    if (!tail->any) {
        roast__summary_miss(ctx->summary, "tail", "the threads are not known");
        return;
    }
    roast__fill_number(table, ROAST_COL_tail_start,
                       roast__seconds_between(ctx->run->start_ns, tail->from_ns));
    roast__fill_number(table, ROAST_COL_tail_seconds,
                       roast__seconds_between(tail->from_ns, tail->to_ns));
    roast__fill_number(table, ROAST_COL_tail_thread_seconds_lost,
                       roast__tail_lost_s(&ctx->budget->phases, tail));
    roast__fill_count(table, ROAST_COL_tail_chunks, looking->still_running);
}

void roast__summarize_tail(const struct roast_summary_context *ctx)
{
    struct roast_summary *summary = ctx->summary;
    roast_table *tail = roast__summary_open(summary, ROAST_TABLE_tail);
    roast_table *stragglers = roast__summary_open(summary, ROAST_TABLE_stragglers);
    struct looking looking = {.ctx = ctx};
    bool done = choose_call(&looking);

    if (done && looking.chunks == 0) {
        roast__summary_miss(summary, "tail", "no chunk ended well");
    } else if (done) {
        done = find_last(&looking) && find_usual(&looking);
        if (done)
            put_tail(&looking, tail);
        done = done && find_stragglers(&looking, stragglers);
    }
    summary->failed |= !done;
    roast__calls_release(&looking.calls);
}
