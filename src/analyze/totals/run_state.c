/* SPDX-License-Identifier: BSD-3-Clause */
/* run_state.c - how the run ended, and which chunks and files its result lacks.
 *
 * A chunk or file of a failed attempt is not missing if another attempt at it was
 * successful, also one in another call of the Runner, if the result of none is known to
 * miss anything. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/calls.h"
#include "analyze/formulas.h"
#include "analyze/rerun/plan.h"
#include "base/mem.h"
#include "base/str.h"

enum { MOST_NAMED = 10, NAMED_IN_REASON = 2, REASON_BYTES = 600 };

/* A range of entries without a successful attempt so far. */
struct missing_range {
    int32_t source;
    int64_t start;
    int64_t stop;
    bool is_file; /* its entries could not be counted */
    bool found;   /* another attempt was successful */
};

struct missing {
    const struct roast_summary_context *ctx;
    struct missing_range *ranges; /* owned, sorted */
    size_t count;
    uint64_t chunks;
    uint64_t files;
    struct roast_buf names; /* a list of the first ones */
    char first[NAMED_IN_REASON][200];
    size_t named;
};

/* ---- what is missing ------------------------------------------------------------- */

static int by_range(const void *a, const void *b)
{
    const struct missing_range *left = a, *right = b;

    if (left->source != right->source)
        return left->source < right->source ? -1 : 1;
    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    return (left->stop > right->stop) - (left->stop < right->stop);
}

static struct missing_range range_of(const struct roast_run *run, size_t row)
{
    const struct roast_attempts *attempts = &run->attempts;
    const struct roast_column *columns = attempts->columns;

    return (struct missing_range){
        .source = attempts->source[row],
        .start = roast__column_get(&columns[ROAST_COLUMN_entry_start], row, -1),
        .stop = roast__column_get(&columns[ROAST_COLUMN_entry_stop], row, -1),
        .is_file = roast__is_preprocess_failure(run, row)};
}

static bool may_be_missing(const struct roast_summary_context *ctx, size_t row)
{
    const struct roast_roles *roles = &ctx->totals->roles;
    unsigned role = roles->of_row[row];

    return (role == ROAST_ROLE_FAILED || role == ROAST_ROLE_LOST ||
            role == ROAST_ROLE_CANCELLED) &&
           !roast__roles_resolved(roles, ctx->run, row);
}

static bool was_successful(unsigned role)
{
    return role == ROAST_ROLE_COUNTS || role == ROAST_ROLE_BARE ||
           role == ROAST_ROLE_REPEAT;
}

/* "ttbar a.root 0-100", "ttbar a.root" for a file */
static void name_it(struct missing *missing, const struct missing_range *range)
{
    const struct roast_run *run = missing->ctx->run;
    struct roast_str dataset = {NULL, 0}, file = {NULL, 0};
    char entries[64] = "", text[400];

    if (range->source >= 0) {
        const struct roast_source *source = &run->attempts.sources[range->source];
        dataset = roast__context_text(missing->ctx, source->dataset);
        file = roast__context_text(missing->ctx, source->file);
    }
    if (missing->named >= MOST_NAMED || !file.data)
        return;
    if (!range->is_file)
        (void)snprintf(entries, sizeof(entries), " %" PRId64 "-%" PRId64, range->start,
                       range->stop);
    dataset = roast_str_cut(dataset, 60);
    file = roast_str_cut(file, 200);
    int size = snprintf(text, sizeof(text), "%.*s%s%.*s%s", (int)dataset.size_bytes,
                        dataset.data ? dataset.data : "", dataset.data ? " " : "",
                        (int)file.size_bytes, file.data, entries);
    roast__list_add(&missing->names, (struct roast_str){text, (size_t)size});
    if (missing->named < NAMED_IN_REASON)
        (void)snprintf(missing->first[missing->named], sizeof(missing->first[0]),
                       "%.*s", (int)sizeof(missing->first[0]) - 1, text);
    missing->named++;
}

/* False when out of memory. */
static bool find_missing(struct missing *missing)
{
    const struct roast_summary_context *ctx = missing->ctx;
    const struct roast_attempts *attempts = &ctx->run->attempts;
    const struct roast_roles *roles = &ctx->totals->roles;
    size_t most = roles->rows[ROAST_ROLE_FAILED] + roles->rows[ROAST_ROLE_LOST] +
                  roles->rows[ROAST_ROLE_CANCELLED];

    if (most == 0)
        return true;
    missing->ranges = roast__alloc(most * sizeof(missing->ranges[0]));
    if (!missing->ranges)
        return false;
    for (size_t row = 0; row < attempts->count; row++) {
        if (!may_be_missing(ctx, row))
            continue;
        if (attempts->source[row] >= 0)
            missing->ranges[missing->count++] = range_of(ctx->run, row);
        else
            missing->chunks++; /* which one is not known */
    }
    qsort(missing->ranges, missing->count, sizeof(missing->ranges[0]), by_range);
    /* one call may have run what several others missed; else it is another pass */
    bool whole = roast__rerun_way(ctx->run) == ROAST_RERUN_UNKNOWN;
    for (size_t row = 0; whole && missing->count > 0 && row < attempts->count; row++) {
        if (!was_successful(roles->of_row[row]))
            continue;
        struct missing_range key = range_of(ctx->run, row);
        struct missing_range *same =
            bsearch(&key, missing->ranges, missing->count, sizeof(key), by_range);
        if (same)
            same->found = true;
    }
    for (size_t i = 0, to; i < missing->count; i = to) {
        const struct missing_range *range = &missing->ranges[i];
        bool found = false;
        for (to = i; to < missing->count && by_range(range, &missing->ranges[to]) == 0;
             to++)
            found |= missing->ranges[to].found;
        if (found)
            continue;
        missing->files += range->is_file;
        missing->chunks += !range->is_file;
        name_it(missing, range);
    }
    return true;
}

/* ---- the reason ------------------------------------------------------------------ */

static size_t put_count(char *out, size_t used, uint64_t count, const char *noun)
{
    int size = 0;

    if (count > 0)
        size = snprintf(out + used, REASON_BYTES - used, "%s%" PRIu64 " %s%s",
                        used > 0 ? " and " : "", count, noun, count == 1 ? "" : "s");
    return used + (size_t)size;
}

/* "1 chunk and 1 file are not in the result: ttbar a.root 0-100, ttbar gone.root" */
static void put_missing(char out[REASON_BYTES], const struct missing *missing)
{
    uint64_t all = missing->chunks + missing->files;
    size_t used = put_count(out, 0, missing->chunks, "chunk");

    used = put_count(out, used, missing->files, "file");
    used += (size_t)snprintf(out + used, REASON_BYTES - used, " %s not in the result",
                             all == 1 ? "is" : "are");
    for (size_t i = 0; i < missing->named && i < NAMED_IN_REASON; i++)
        used += (size_t)snprintf(out + used, REASON_BYTES - used, "%s%s",
                                 i == 0 ? ": " : ", ", missing->first[i]);
    if (missing->named > 0 && all > NAMED_IN_REASON)
        (void)snprintf(out + used, REASON_BYTES - used, ", ...");
}

/* "Ctrl-C (KeyboardInterrupt), a call gave no result, 2 attempts were cancelled" */
static void put_interruption(char out[REASON_BYTES],
                             const struct roast_summary_context *ctx,
                             uint64_t cancelled)
{
    bool without = roast__run_returned(ctx->run) == ROAST_RETURNED_NOTHING;
    int size = snprintf(out, REASON_BYTES, "Ctrl-C (" ROAST_INTERRUPT_CLASS ")%s",
                        without ? ", a call gave no result" : "");

    if (cancelled > 0)
        (void)snprintf(out + size, REASON_BYTES - (size_t)size,
                       ", %" PRIu64 " attempt%s cancelled", cancelled,
                       cancelled == 1 ? " was" : "s were");
}

void roast__summarize_run_state(const struct roast_summary_context *ctx)
{
    struct missing missing = {.ctx = ctx};
    enum roast_run_state state = roast__run_state(ctx->run);
    uint64_t cancelled = ctx->totals->roles.rows[ROAST_ROLE_CANCELLED];
    struct roast_str failure =
        roast__notes_get(&ctx->run->notes, ROAST_NOTES_run, roast_str_of("failure"));
    char reason[REASON_BYTES] = "";

    if (!find_missing(&missing))
        ctx->summary->failed = true;
    if (state == ROAST_IS_finished && missing.chunks + missing.files > 0)
        state = ROAST_IS_incomplete;
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_run_state);
    roast__table_row(table);
    roast__fill_string(table, ROAST_COL_run_state_state, roast_run_state_name(state));
    if (state == ROAST_IS_incomplete)
        put_missing(reason, &missing);
    else if (state == ROAST_IS_interrupted)
        put_interruption(reason, ctx, cancelled);
    if (*reason)
        roast__fill_string(table, ROAST_COL_run_state_reason, reason);
    else if (state == ROAST_IS_failed)
        roast__fill_text(table, ROAST_COL_run_state_reason, failure);
    roast__fill_count(table, ROAST_COL_run_state_missing_chunks, missing.chunks);
    roast__fill_count(table, ROAST_COL_run_state_missing_files, missing.files);
    roast__fill_list(table, ROAST_COL_run_state_missing, &missing.names);
    roast__free(missing.ranges);
}
