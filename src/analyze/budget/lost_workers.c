/* SPDX-License-Identifier: BSD-3-Clause */
/* lost_workers.c - workers that left unexpectedly, and what was lost with them.
 *
 * A worker that was stopped counts as lost if it left an attempt unfinished. The lost
 * seconds include successful attempts that were repeated because their result was lost
 * with the worker. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/budget/last_seen.h"
#include "analyze/calls.h"
#include "analyze/formulas.h"
#include "analyze/timeline.h"
#include "base/mem.h"

/* A lost attempt, or one whose result was lost. */
struct lost_attempt {
    uint32_t session;
    uint32_t row;
};

/* By session. Owned. */
struct lost_attempts {
    struct lost_attempt *items;
    size_t count;
    int64_t *last_seen;
};

static bool is_unfinished(const struct roast_summary_context *ctx, uint32_t row)
{
    return ctx->totals->roles.of_row[row] == ROAST_ROLE_LOST;
}

/* ---- which attempts -------------------------------------------------------------- */

static int by_session(const void *a, const void *b)
{
    const struct lost_attempt *left = a, *right = b;

    if (left->session != right->session)
        return left->session < right->session ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

/* The session in which an attempt was made, if it has ended. */
static const struct roast_worker_session *ended_session(const struct roast_run *run,
                                                        size_t row)
{
    const struct roast_attempts *attempts = &run->attempts;
    int32_t worker = attempts->processes[attempts->process[row]].worker;
    const struct roast_worker_session *session = NULL;
    int64_t start_ns, end_ns;

    if (worker >= 0 && roast__attempt_times(attempts, row, &start_ns, &end_ns))
        session = roast__session_at(&run->scheduler.sessions, worker, start_ns);
    return session && session->left_ns != 0 ? session : NULL;
}

/* Results of a worker that retires are moved to other workers, and not repeated. */
static bool was_lost(const struct roast_summary_context *ctx, size_t row,
                     const struct roast_worker_session *session)
{
    unsigned role = ctx->totals->roles.of_row[row];

    return session && (role == ROAST_ROLE_LOST ||
                       (role == ROAST_ROLE_REPEAT && !session->expected));
}

/* False when out of memory. */
static bool find_lost_attempts(struct lost_attempts *lost,
                               const struct roast_summary_context *ctx)
{
    const struct roast_run *run = ctx->run;
    const struct roast_roles *roles = &ctx->totals->roles;
    uint64_t most = roles->rows[ROAST_ROLE_LOST] + roles->rows[ROAST_ROLE_REPEAT];

    if (most == 0 || run->scheduler.sessions.count == 0)
        return true;
    lost->items = roast__alloc((size_t)most * sizeof(lost->items[0]));
    lost->last_seen = roast__last_seen(run);
    if (!lost->items || !lost->last_seen)
        return false;
    for (size_t row = 0; row < run->attempts.count; row++) {
        unsigned role = roles->of_row[row];
        bool may_be = role == ROAST_ROLE_LOST || role == ROAST_ROLE_REPEAT;
        const struct roast_worker_session *session =
            may_be ? ended_session(run, row) : NULL;
        if (!was_lost(ctx, row, session))
            continue;
        lost->items[lost->count++] = (struct lost_attempt){
            (uint32_t)(session - run->scheduler.sessions.items), (uint32_t)row};
    }
    qsort(lost->items, lost->count, sizeof(lost->items[0]), by_session);
    return true;
}

/* ---- one worker ------------------------------------------------------------------ */

static bool begins_with(struct roast_str text, const char *words)
{
    size_t size = strlen(words);

    return text.size_bytes >= size && memcmp(text.data, words, size) == 0;
}

/* A nanny that stops a worker for its memory may report it as expected. */
static const char *leave_reason(const struct roast_worker_session *session,
                                struct roast_str reason)
{
    enum roast_leave_reason known = 0;

    while (known < ROAST_LEAVE_COUNT &&
           !begins_with(reason, roast_leave_reason_info(known)->text))
        known++;
    if (session->expected && known != ROAST_LEAVE_memory)
        return roast_leave_reason_info(ROAST_LEAVE_retired)->ended;
    return known < ROAST_LEAVE_COUNT ? roast_leave_reason_info(known)->ended
                                     : "unknown";
}

/* The last sampled memory of a session; NaN: none. */
static double last_memory(const struct roast_run *run,
                          const struct roast_worker_session *session)
{
    const struct roast_worker_samples *samples =
        roast__samples_find(&run->samples, session->worker);
    struct roast_series_cursor cursor;
    double last = NAN, value;
    int64_t time_ns;
    bool known;

    if (!samples)
        return NAN;
    roast__series_open(&cursor, samples, ROAST_SERIES_memory);
    while (roast__series_next(&cursor, &time_ns, &value, &known) == 1) {
        if (known && time_ns >= session->joined_ns && time_ns <= session->left_ns)
            last = value;
    }
    return last;
}

static double seconds_of(const struct roast_summary_context *ctx,
                         const struct lost_attempts *own)
{
    const struct roast_attempts *attempts = &ctx->run->attempts;
    double sum = 0;

    for (size_t i = 0; i < own->count; i++) {
        uint32_t row = own->items[i].row;
        double seconds = is_unfinished(ctx, row)
                             ? roast__lost_seconds(attempts, row, own->last_seen)
                             : roast__attempt_seconds(attempts, row);
        sum += isnan(seconds) ? 0 : seconds;
    }
    return sum;
}

static void put_text(struct roast_buf *out, struct roast_str text)
{
    roast__buf_put(out, text.data ? text.data : "?", text.data ? text.size_bytes : 1);
}

static void put_worker(roast_table *table, const struct roast_summary_context *ctx,
                       const struct roast_worker_session *session,
                       const struct lost_attempts *own)
{
    struct roast_str reason = roast__strings_get(&ctx->run->strings, session->reason);
    struct roast_buf chunks = {0};

    roast__table_row(table);
    roast__fill_text(table, ROAST_COL_lost_workers_worker,
                     roast__context_text(ctx, session->worker));
    roast__fill_text(table, ROAST_COL_lost_workers_name,
                     roast__context_text(ctx, session->name));
    roast__fill_text(table, ROAST_COL_lost_workers_host,
                     roast__context_text(ctx, session->host));
    if (session->pid != 0)
        roast__fill_count(table, ROAST_COL_lost_workers_pid, session->pid);
    roast__fill_int(table, ROAST_COL_lost_workers_left, session->left_ns);
    roast__fill_string(table, ROAST_COL_lost_workers_ended,
                       leave_reason(session, reason));
    roast__fill_text(table, ROAST_COL_lost_workers_reason, reason);
    roast__fill_sum(table, ROAST_COL_lost_workers_memory_bytes,
                    last_memory(ctx->run, session));
    if (session->memory_limit_bytes != 0)
        roast__fill_count(table, ROAST_COL_lost_workers_memory_limit_bytes,
                          session->memory_limit_bytes);
    roast__fill_count(table, ROAST_COL_lost_workers_attempts, own->count);
    roast__fill_number(table, ROAST_COL_lost_workers_seconds_lost,
                       seconds_of(ctx, own));
    for (size_t i = 0; i < own->count; i++) {
        if (is_unfinished(ctx, own->items[i].row)) {
            /* "ttbar a.root 0-100" */
            const struct roast_run *run = ctx->run;
            const struct roast_column *column = run->attempts.columns;
            int32_t source = run->attempts.source[own->items[i].row];
            struct roast_buf text = {0};
            char entries[64];
            int size = snprintf(entries, sizeof(entries), " %" PRId64 "-%" PRId64,
                                roast__column_get(&column[ROAST_COLUMN_entry_start],
                                                  own->items[i].row, 0),
                                roast__column_get(&column[ROAST_COLUMN_entry_stop],
                                                  own->items[i].row, 0));
            if (source >= 0) {
                const struct roast_source *read = &run->attempts.sources[source];
                put_text(&text, roast__strings_get(&run->strings, read->dataset));
                put_text(&text, roast_str_of(" "));
                put_text(&text, roast__strings_get(&run->strings, read->file));
            } else {
                put_text(&text, (struct roast_str){NULL, 0});
            }
            if (roast__column_has(&column[ROAST_COLUMN_entry_stop], own->items[i].row))
                roast__buf_put(&text, entries, (size_t)size);
            chunks.failed |= !roast__buf_ok(&text);
            roast__list_add(
                &chunks, (struct roast_str){(const char *)text.data, text.size_bytes});
            roast__buf_release(&text);
        }
    }
    roast__fill_list(table, ROAST_COL_lost_workers_chunks, &chunks);
}

void roast__summarize_lost_workers(const struct roast_summary_context *ctx)
{
    const struct roast_worker_sessions *sessions = &ctx->run->scheduler.sessions;
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_lost_workers);
    struct lost_attempts all = {.items = NULL};
    size_t next = 0;
    double workers = 0;

    if (!find_lost_attempts(&all, ctx)) {
        ctx->summary->failed = true;
        goto out;
    }
    for (size_t i = 0; i < sessions->count; i++) {
        const struct roast_worker_session *session = &sessions->items[i];
        /* The lost attempts of this session begin at `next`. */
        struct lost_attempts own = {.items = all.items ? all.items + next : NULL,
                                    .last_seen = all.last_seen};
        while (next < all.count && all.items[next].session == i) {
            own.count++;
            ++next;
        }
        if (session->left_ns == 0 || (session->expected && own.count == 0))
            continue;
        put_worker(table, ctx, session, &own);
        workers++;
    }
    if (sessions->count > 0)
        roast__context_set(ctx, ROAST_METRIC_num_lost_workers, workers);
out:
    roast__free(all.items);
    roast__free(all.last_seen);
}
