/* SPDX-License-Identifier: BSD-3-Clause */
/* run_state.c - how the run ended, and which chunks and files its result lacks.
 *
 * Where all calls of the Runner returned and their items are known, their plans have it (rerun/).
 * Otherwise a chunk or file of a failed attempt is missing, unless any other attempt at
 * it was successful, also one in a later call of the Runner. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/calls.h"
#include "analyze/formulas.h"
#include "analyze/recorded.h"
#include "analyze/rerun/plan.h"
#include "base/mem.h"
#include "base/str.h"

enum { MOST_NAMED = 10, NAMED_IN_REASON = 2, NAME_BYTES = 200, REASON_BYTES = 600 };

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

static void name_it(struct missing *missing, struct roast_str dataset,
                    struct roast_str file, const int64_t *entries)
{
    if (missing->named >= MOST_NAMED || !file.data)
        return;
    roast__list_add_chunk(&missing->names, dataset, file, entries);
    missing->named++;
}

static void name_range(struct missing *missing, const struct missing_range *range)
{
    const struct roast_summary_context *ctx = missing->ctx;
    const struct roast_source *source = &ctx->run->attempts.sources[range->source];

    name_it(missing, roast__context_text(ctx, source->dataset),
            roast__context_text(ctx, source->file),
            range->is_file ? NULL : (int64_t[2]){range->start, range->stop});
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
    for (size_t row = 0; missing->count > 0 && row < attempts->count; row++) {
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
        name_range(missing, range);
    }
    return true;
}

/* Adds what the result of a call lacks; false: not known. */
static bool add_call(struct missing *missing, const struct roast_plan *plan)
{
    if (plan->is_unlisted || !plan->returned)
        return false;
    missing->chunks += plan->missing.count;
    missing->files += plan->unread.count;
    for (size_t i = 0; i < plan->missing.count && missing->named < MOST_NAMED; i++) {
        const struct roast_item *item = &plan->missing.items[i];
        const struct roast_plan_file *file = &plan->files[item->file];
        name_it(missing, file->dataset, file->file,
                (int64_t[2]){(int64_t)item->start, (int64_t)item->stop});
    }
    for (size_t i = 0; i < plan->unread.count && missing->named < MOST_NAMED; i++) {
        const struct roast_fileset_file *file = &plan->unread.files[i];
        name_it(missing, roast__fileset_text(&plan->unread, file->dataset),
                roast__fileset_text(&plan->unread, file->file), NULL);
    }
    return true;
}

/* Fills what the results of all calls lack; false: not known. */
static bool find_in_calls(struct missing *missing)
{
    const struct roast_run *run = missing->ctx->run;
    uint32_t calls = roast__plan_count(run);
    bool known = calls > 0;

    for (uint32_t call = 1; call <= calls && known; call++) {
        struct roast_plan plan = {.call = 0};
        bool read = roast__plan_read(&plan, run, call, NULL) == ROAST_OK;
        missing->ctx->summary->failed |= !read;
        known = read && add_call(missing, &plan);
        roast__plan_release(&plan);
    }
    if (!known) {
        roast__buf_release(&missing->names);
        *missing = (struct missing){.ctx = missing->ctx};
    }
    return known;
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
    struct roast_str names = {(const char *)missing->names.data,
                              missing->names.size_bytes};
    struct roast_str name;
    for (int i = 0; i < NAMED_IN_REASON && roast_table_item(&name, &names); i++) {
        name = roast_str_cut(name, NAME_BYTES - 1);
        used += (size_t)snprintf(out + used, REASON_BYTES - used, "%s%.*s",
                                 i == 0 ? ": " : ", ", (int)name.size_bytes, name.data);
    }
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

    if ((state != ROAST_IS_finished || !find_in_calls(&missing)) &&
        !find_missing(&missing))
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
