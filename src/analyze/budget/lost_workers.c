/* SPDX-License-Identifier: BSD-3-Clause */
/* lost_workers.c - workers that died, and what was lost with them.
 *
 * A worker that left on request is not lost, whatever it left unfinished. The lost
 * seconds include successful attempts that were repeated because their result was lost
 * with the worker. Of a pool, those count whose process ended first: it ends the
 * others. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/budget/last_seen.h"
#include "analyze/calls.h"
#include "analyze/deaths.h"
#include "analyze/formulas.h"
#include "analyze/recorded.h"
#include "analyze/timeline.h"
#include "base/mem.h"
#include "base/str.h"

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

/* Whether its end was requested. A nanny that stops a worker for its memory may report it
 * as expected. */
static bool is_requested(const struct roast_worker_session *session,
                         struct roast_str reason)
{
    return session->expected &&
           !roast__str_begins(reason,
                              roast_leave_reason_info(ROAST_LEAVE_memory)->text);
}

static const char *leave_reason(const struct roast_worker_session *session,
                                struct roast_str reason)
{
    enum roast_leave_reason known = 0;

    while (known < ROAST_LEAVE_COUNT &&
           !roast__str_begins(reason, roast_leave_reason_info(known)->text))
        known++;
    if (is_requested(session, reason))
        return roast_leave_reason_info(ROAST_LEAVE_retired)->ended;
    return known < ROAST_LEAVE_COUNT ? roast_leave_reason_info(known)->ended
                                     : "unknown";
}

/* Fills the last sampled memory of a worker in [from, to]; NULL: it was not sampled. */
static void put_memory(roast_table *table, const struct roast_worker_samples *samples,
                       int64_t from_ns, int64_t to_ns)
{
    struct roast_series_cursor cursor;
    double last = NAN, value;
    int64_t time_ns, last_ns = 0;
    bool known;

    if (!samples)
        return;
    roast__series_open(&cursor, samples, ROAST_SERIES_memory);
    while (roast__series_next(&cursor, &time_ns, &value, &known) == 1) {
        if (known && time_ns >= from_ns && time_ns <= to_ns) {
            last = value;
            last_ns = time_ns;
        }
    }
    roast__fill_sum(table, ROAST_COL_lost_workers_memory_bytes, last);
    if (!isnan(last))
        roast__fill_number(table, ROAST_COL_lost_workers_memory_age,
                           roast__seconds_between(last_ns, to_ns));
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

static void add_chunk(struct roast_buf *chunks, const struct roast_run *run,
                      uint32_t row)
{
    const struct roast_column *columns = run->attempts.columns;
    const struct roast_column *stops = &columns[ROAST_COLUMN_entry_stop];
    int32_t number = run->attempts.source[row];
    const struct roast_source none = {.dataset = ROAST_NO_STRING,
                                      .file = ROAST_NO_STRING};
    const struct roast_source *read =
        number >= 0 ? &run->attempts.sources[number] : &none;
    const int64_t entries[2] = {
        roast__column_get(&columns[ROAST_COLUMN_entry_start], row, 0),
        roast__column_get(stops, row, 0)};

    roast__list_add_chunk(chunks, roast__strings_get(&run->strings, read->dataset),
                          roast__strings_get(&run->strings, read->file),
                          roast__column_has(stops, row) ? entries : NULL);
}

/* ---- a process of a pool --------------------------------------------------------- */

/* "killed by signal 9" */
static void put_ending(roast_table *table, const struct roast_death *death)
{
    char text[64] = "died, exit code not known";

    if (death->code_known && death->code < 0)
        (void)snprintf(text, sizeof(text), "killed by signal %" PRId64, -death->code);
    else if (death->code_known)
        (void)snprintf(text, sizeof(text), "exit code %" PRId64, death->code);
    roast__fill_string(table, ROAST_COL_lost_workers_ended, text);
    if (death->code_known)
        roast__fill_int(table, ROAST_COL_lost_workers_exit_code, death->code);
}

static void put_process(roast_table *table, const struct roast_summary_context *ctx,
                        const struct roast_death *death)
{
    const struct roast_attempts *attempts = &ctx->run->attempts;
    struct roast_buf chunks = {0};
    uint64_t lost = 0;
    bool all_known = true;
    double seconds = 0;
    char name[32];

    roast__table_row(table);
    (void)snprintf(name, sizeof(name), "pid-%" PRIu64, death->pid);
    roast__fill_string(table, ROAST_COL_lost_workers_worker, name);
    roast__fill_text(table, ROAST_COL_lost_workers_host,
                     roast__context_text(ctx, ctx->run->host));
    roast__fill_count(table, ROAST_COL_lost_workers_pid, death->pid);
    roast__fill_int(table, ROAST_COL_lost_workers_left, death->time_ns);
    put_ending(table, death);
    for (size_t i = 0; i < ctx->run->samples.count; i++) {
        const struct roast_worker_samples *samples = &ctx->run->samples.workers[i];
        if (samples->pid == death->pid) {
            put_memory(table, samples, INT64_MIN, death->time_ns);
            break;
        }
    }
    for (uint32_t row = 0; row < attempts->count; row++) {
        int64_t start_ns, end_ns;
        if (!is_unfinished(ctx, row))
            continue;
        const struct roast_worker_process *process =
            &attempts->processes[attempts->process[row]];
        all_known &= process->pid != 0;
        if (!roast__death_is_of(death, ctx->run, process))
            continue;
        add_chunk(&chunks, ctx->run, row);
        lost++;
        if (roast__attempt_times(attempts, row, &start_ns, &end_ns))
            seconds += roast__seconds_between(start_ns, death->time_ns);
    }
    if (lost > 0 || all_known) { /* a process has its pid in its first record */
        roast__fill_count(table, ROAST_COL_lost_workers_attempts, lost);
        roast__fill_number(table, ROAST_COL_lost_workers_seconds_lost, seconds);
    }
    roast__fill_list(table, ROAST_COL_lost_workers_chunks, &chunks);
}

/* ---- a worker of a cluster ------------------------------------------------------- */

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
    put_memory(table, roast__samples_find(&ctx->run->samples, session->worker),
               session->joined_ns, session->left_ns);
    if (session->memory_limit_bytes != 0)
        roast__fill_count(table, ROAST_COL_lost_workers_memory_limit_bytes,
                          session->memory_limit_bytes);
    roast__fill_count(table, ROAST_COL_lost_workers_attempts, own->count);
    roast__fill_number(table, ROAST_COL_lost_workers_seconds_lost,
                       seconds_of(ctx, own));
    for (size_t i = 0; i < own->count; i++) {
        if (is_unfinished(ctx, own->items[i].row))
            add_chunk(&chunks, ctx->run, own->items[i].row);
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
        if (session->left_ns == 0 ||
            is_requested(session,
                         roast__strings_get(&ctx->run->strings, session->reason)))
            continue;
        put_worker(table, ctx, session, &own);
        workers++;
    }
    for (size_t i = 0; i < ctx->run->notes.count; i++) {
        struct roast_death death;
        if (roast__death_read(&death, &ctx->run->notes.items[i])) {
            put_process(table, ctx, &death);
            workers++;
        }
    }
    if (sessions->count > 0 || workers > 0)
        roast__context_set(ctx, ROAST_METRIC_num_lost_workers, workers);
out:
    roast__free(all.items);
    roast__free(all.last_seen);
}
