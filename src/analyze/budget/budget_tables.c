/* SPDX-License-Identifier: BSD-3-Clause */
/* budget_tables.c - the budget as tables: total, by phase, over time, by owner.
 *
 * All have the slices as columns, in seconds of threads. Idle time belongs to workers
 * and hosts, but to no dataset. */
#include <stdlib.h>

#include "analyze/budget/budget.h"
#include "analyze/formulas.h"
#include "analyze/recorded.h"
#include "analyze/timeline.h"
#include "base/mem.h"

/* `first` is the column of the first slice. */
static void put_slices(roast_table *table, int first, const roast_slices slices)
{
    for (int i = 0; i < ROAST_SLICES; i++)
        roast__fill_number(table, first + i, slices[i]);
}

/* ---- by owner -------------------------------------------------------------------- */

/* The slices of one shift or source, and their owner. */
struct owned_slices {
    int64_t owner; /* number of a text, PROCESSES + number of a process, or negative */
    uint32_t account;
    uint32_t rank; /* 0: unknown owner; else 1 + first account of the owner */
};

#define PROCESSES (INT64_C(1) << 32)

static int by_owner(const void *a, const void *b)
{
    const struct owned_slices *left = a, *right = b;

    if (left->owner != right->owner)
        return left->owner < right->owner ? -1 : 1;
    return (left->account > right->account) - (left->account < right->account);
}

/* Numbers of texts differ between a run and the same run loaded from a file; the order
 * of accounts does not. */
static int by_rank(const void *a, const void *b)
{
    const struct owned_slices *left = a, *right = b;

    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    return (left->account > right->account) - (left->account < right->account);
}

/* A slot of a pool belongs to its latest process, if there was one. */
static int64_t worker_of(const struct roast_summary_context *ctx, size_t account)
{
    const struct roast_shift *shift = &ctx->budget->schedule.shifts[account];

    if (shift->session >= 0)
        return ctx->run->scheduler.sessions.items[shift->session].worker;
    return shift->process >= 0 ? PROCESSES + shift->process : ROAST_NO_STRING;
}

static int64_t host_of(const struct roast_summary_context *ctx, size_t account)
{
    const struct roast_shift *shift = &ctx->budget->schedule.shifts[account];

    if (shift->session >= 0)
        return ctx->run->scheduler.sessions.items[shift->session].host;
    return ctx->run->host; /* a pool is on the machine of its client */
}

static int64_t dataset_of(const struct roast_summary_context *ctx, size_t account)
{
    const struct roast_attempts *attempts = &ctx->run->attempts;

    return account < attempts->source_count ? attempts->sources[account].dataset
                                            : ROAST_NO_STRING;
}

static void put_by(const struct roast_summary_context *ctx, enum roast_table_id id,
                   int64_t owner_of(const struct roast_summary_context *, size_t),
                   size_t count, roast_slices *accounts)
{
    struct owned_slices *owned = roast__alloc(count * sizeof(owned[0]));

    if (!owned) {
        ctx->summary->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        owned[i] = (struct owned_slices){owner_of(ctx, i), (uint32_t)i, 0};
    /* One row per owner, with the sum of its accounts. */
    roast_table *table = roast__summary_open(ctx->summary, id);
    int key = roast__table_first(id); /* the slices follow it */
    if (count > 1)
        qsort(owned, count, sizeof(owned[0]), by_owner);
    for (size_t i = 0, first = 0; i < count; i++) {
        first = owned[i].owner == owned[first].owner ? first : i;
        owned[i].rank = owned[i].owner < 0 ? 0 : 1 + owned[first].account;
    }
    if (count > 1)
        qsort(owned, count, sizeof(owned[0]), by_rank);
    for (size_t i = 0; i < count;) {
        int64_t owner = owned[i].owner;
        roast_slices sum = {0};
        for (; i < count && owned[i].owner == owner; i++) {
            for (int slice = 0; slice < ROAST_SLICES; slice++)
                sum[slice] += accounts[owned[i].account][slice];
        }
        roast__table_row(table);
        if (owner < 0)
            roast__fill_string(table, key, "(unknown)");
        else if (owner < PROCESSES)
            roast__fill_text(table, key, roast__context_text(ctx, (int32_t)owner));
        else
            roast__fill_worker(table, key, ctx, (size_t)(owner - PROCESSES));
        put_slices(table, key + 1, sum);
    }
    roast__free(owned);
}

/* ---- all ------------------------------------------------------------------------- */

void roast__summarize_budget(const struct roast_summary_context *ctx)
{
    const struct roast_budget *budget = ctx->budget;
    size_t shifts = budget->schedule.shift_count;

    if (shifts == 0) {
        roast__summary_unavailable(
            ctx->summary, "budget",
            ctx->run->offer_count > 0
                ? "there were no threads, or more than a budget holds"
                : "the number of threads is not known");
        return;
    }
    if (budget->schedule.unplaced_jobs > 0)
        roast__summary_unavailable(
            ctx->summary, "budget",
            "some jobs ran on unknown workers: their seconds are in no "
            "slice, only in unexplained_percent");
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_budget);
    roast__table_row(table);
    put_slices(table, ROAST_COL_budget_import, budget->total);
    table = roast__summary_open(ctx->summary, ROAST_TABLE_budget_by_phase);
    for (int phase = 0; phase < ROAST_PHASE_COUNT; phase++) {
        roast__table_row(table);
        roast__fill_string(table, ROAST_COL_budget_by_phase_phase,
                           roast__phase_name((enum roast_phase)phase));
        put_slices(table, ROAST_COL_budget_by_phase_import, budget->by_phase[phase]);
    }
    double length_s = roast__seconds_between(budget->start_ns, budget->end_ns);
    table = roast__summary_open(ctx->summary, ROAST_TABLE_budget_over_time);
    for (int bin = 0; length_s > 0 && bin < ROAST_BUDGET_BINS; bin++) {
        roast__table_row(table);
        roast__fill_number(table, ROAST_COL_budget_over_time_from,
                           length_s * bin / ROAST_BUDGET_BINS);
        put_slices(table, ROAST_COL_budget_over_time_import, budget->by_bin[bin]);
    }
    put_by(ctx, ROAST_TABLE_budget_by_dataset, dataset_of,
           ctx->run->attempts.source_count + 1, budget->by_source);
    put_by(ctx, ROAST_TABLE_budget_by_worker, worker_of, shifts, budget->by_shift);
    put_by(ctx, ROAST_TABLE_budget_by_host, host_of, shifts, budget->by_shift);
    /* Seconds in no slice, without a thread, and on unknown workers. */
    double unexplained_s = budget->total[ROAST_SLICE_unexplained] + budget->overlap_s +
                           budget->schedule.unplaced_s;
    roast__context_set(ctx, ROAST_METRIC_budget_overlap_seconds, budget->overlap_s);
    if (budget->offered_s > 0)
        roast__context_set(ctx, ROAST_METRIC_unexplained_percent,
                           unexplained_s / budget->offered_s * 100);
}
