/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - the table of the calls of Runner.run. */
#include "analyze/calls.h"

#include "analyze/formulas.h"
#include "analyze/recorded.h"
#include "analyze/timeline.h"
#include "base/mem.h"

#define AT(name) ROAST_COL_calls_##name

struct call_sums {
    uint64_t chunks;
    uint64_t attempts;
    uint64_t failures;
    double events; /* NaN: not known of a chunk */
};

/* A chunk without a record has as many events as entries. */
static double events_of(const struct roast_summary_context *ctx, size_t row)
{
    const struct roast_column *columns = ctx->run->attempts.columns;

    if (ctx->totals->roles.of_row[row] == ROAST_ROLE_COUNTS)
        return roast__column_number(&columns[ROAST_COLUMN_num_events], row);
    return roast__column_number(&columns[ROAST_COLUMN_entry_stop], row) -
           roast__column_number(&columns[ROAST_COLUMN_entry_start], row);
}

static void add_row(struct call_sums *sums, const struct roast_summary_context *ctx,
                    size_t row)
{
    unsigned role = ctx->totals->roles.of_row[row];

    sums->attempts++;
    sums->failures += role == ROAST_ROLE_FAILED || role == ROAST_ROLE_LOST;
    if (!roast__is_chunk(ctx, row))
        return;
    sums->chunks++;
    sums->events += events_of(ctx, row);
}

/* NULL: not known. */
static const char *state_of(const struct roast_run *run, const struct roast_call *call)
{
    if (call->raised)
        return "raised";
    if (call->returned)
        return "returned";
    if (call->has_end)
        return NULL;
    return run->end_ns == 0 ? "running" : "no end";
}

static void put_call(const struct roast_summary_context *ctx, roast_table *table,
                     const struct roast_call *call, const struct call_sums *sums)
{
    const char *state = state_of(ctx->run, call);

    roast__fill_int(table, AT(start), call->begin_ns);
    roast__fill_number(table, AT(after),
                       roast__seconds_between(ctx->run->start_ns, call->begin_ns));
    roast__fill_number(table, AT(wall_time),
                       roast__seconds_between(call->begin_ns, call->end_ns));
    roast__fill_number(table, AT(preprocess_time), (double)call->preprocess_ns / 1e9);
    roast__fill_count(table, AT(num_chunks), sums->chunks);
    roast__fill_count(table, AT(num_attempts), sums->attempts);
    roast__fill_count(table, AT(failures), sums->failures);
    if (!isnan(sums->events))
        roast__fill_sum(table, AT(total_events), sums->events);
    if (state)
        roast__fill_string(table, AT(state), state);
}

void roast__summarize_calls(const struct roast_summary_context *ctx)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_calls);
    struct roast_calls calls = {0};
    struct call_sums *sums = NULL;

    if (roast__calls_find(&calls, ctx->run))
        sums = roast__alloc(calls.count * sizeof(sums[0]));
    ctx->summary->failed |= !sums;
    for (size_t row = 0; sums && calls.of_row && row < ctx->run->attempts.count;
         row++) {
        if (calls.of_row[row] != ROAST_NO_CALL)
            add_row(&sums[calls.of_row[row]], ctx, row);
    }
    for (size_t i = 0; sums && i < calls.count; i++) {
        roast__table_row(table);
        roast__fill_count(table, AT(call), i + 1);
        put_call(ctx, table, &calls.calls[i], &sums[i]);
    }
    roast__free(sums);
    roast__calls_release(&calls);
}
