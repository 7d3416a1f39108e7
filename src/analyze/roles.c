/* SPDX-License-Identifier: BSD-3-Clause */
/* roles.c - the role of every attempt in its chunk.
 *
 * First every attempt gets the role of the only attempt at its chunk, which is nearly
 * always right. Then the chunks with several attempts (same_chunks.c) are corrected. */
#include "analyze/roles.h"

#include <stdlib.h>

#include "analyze/budget/last_seen.h"
#include "analyze/calls.h"
#include "analyze/deaths.h"
#include "base/mem.h"
#include "base/str.h"

/* ---- interrupted runs ---------------------------------------------------------------- */

/* Whether the process of an attempt ended before the run, on its own. */
static bool has_died(const struct roast_run *run, size_t row)
{
    const struct roast_attempts *attempts = &run->attempts;
    const struct roast_worker_process *process =
        &attempts->processes[attempts->process[row]];
    const struct roast_worker_session *session = NULL;
    struct roast_death death;
    int64_t start_ns, end_ns;

    if (process->worker >= 0 && roast__attempt_times(attempts, row, &start_ns, &end_ns))
        session =
            roast__session_at(&run->scheduler.sessions, process->worker, start_ns);
    if (session)
        return session->left_ns != 0 && !session->expected;
    return roast__death_find(&death, run, process);
}

/* What the end of an interrupted run did to an attempt that failed or has no end. */
static enum roast_role role_if_interrupted(enum roast_role role,
                                           const struct roast_run *run, size_t row)
{
    const struct roast_column *types = &run->attempts.columns[ROAST_COLUMN_error_type];

    if (role == ROAST_ROLE_LOST)
        return has_died(run, row) ? role : ROAST_ROLE_CANCELLED;
    if (role == ROAST_ROLE_FAILED && roast__column_has(types, row) &&
        roast__str_is(roast__strings_get(&run->strings, (int32_t)types->values[row]),
                      ROAST_INTERRUPT_CLASS))
        return ROAST_ROLE_CANCELLED;
    return role;
}

/* ---- single attempts ---------------------------------------------------------------- */

static enum roast_role role_of_single(unsigned status, unsigned parts, bool run_ended)
{
    if (status == ROAST_CHUNK_OK)
        return parts & ROAST_PART_CHUNK ? ROAST_ROLE_COUNTS : ROAST_ROLE_BARE;
    if (status == ROAST_CHUNK_FAILED)
        return ROAST_ROLE_FAILED;
    return run_ended && parts == ROAST_PART_BEGIN ? ROAST_ROLE_LOST : ROAST_ROLE_OPEN;
}

static void set_single_roles(struct roast_roles *roles, const struct roast_run *run)
{
    const struct roast_attempts *attempts = &run->attempts;
    bool interrupted = roast__run_state(run) == ROAST_IS_interrupted;

    for (size_t row = 0; row < attempts->count; row++) {
        enum roast_role role = role_of_single(attempts->status[row],
                                              attempts->parts[row], run->end_ns != 0);
        if (interrupted)
            role = role_if_interrupted(role, run, row);
        roles->of_row[row] = (unsigned char)role;
        roles->rows[role]++;
        if (role == ROAST_ROLE_FAILED)
            roles->preprocess_failures += roast__is_preprocess_failure(run, row);
    }
    roles->chunks = attempts->count - roles->preprocess_failures;
    roles->successful_chunks =
        roles->rows[ROAST_ROLE_COUNTS] + roles->rows[ROAST_ROLE_BARE];
    roles->running_chunks = roles->rows[ROAST_ROLE_OPEN];
    roles->failed_chunks = roles->rows[ROAST_ROLE_FAILED] - roles->preprocess_failures;
    roles->lost_chunks = roles->rows[ROAST_ROLE_LOST];
    roles->cancelled_chunks = roles->rows[ROAST_ROLE_CANCELLED];
}

/* ---- chunks with several attempts ------------------------------------------------ */

struct chunk_attempt {
    uint32_t first; /* the row that names the chunk */
    uint32_t row;
    int64_t start_ns;
};

static int by_chunk_and_start(const void *a, const void *b)
{
    const struct chunk_attempt *left = a, *right = b;

    if (left->first != right->first)
        return left->first < right->first ? -1 : 1;
    if (left->start_ns != right->start_ns)
        return left->start_ns < right->start_ns ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

static int by_row(const void *a, const void *b)
{
    uint32_t left = ((const struct roast_retry *)a)->row;
    uint32_t right = ((const struct roast_retry *)b)->row;

    return (left > right) - (left < right);
}

/* Which attempt counts for its chunk: the first successful one with a record, else the
 * first successful one; `count` if there is none. */
static size_t find_counted(const struct roast_roles *roles,
                           const struct chunk_attempt *tried, size_t count)
{
    size_t bare = count;

    for (size_t i = 0; i < count; i++) {
        unsigned role = roles->of_row[tried[i].row];
        if (role == ROAST_ROLE_COUNTS)
            return i;
        if (role == ROAST_ROLE_BARE && bare == count)
            bare = i;
    }
    return bare;
}

/* The attempts at one chunk by their end; failures of preprocessing are not counted. */
struct end_counts {
    uint64_t ok, open, failed, lost, cancelled;
};

static void resolve_chunk(struct roast_roles *roles, const struct roast_run *run,
                          const struct chunk_attempt *tried, size_t count)
{
    size_t counted = find_counted(roles, tried, count);
    struct end_counts ends = {0};

    for (size_t i = 0; i < count; i++) {
        unsigned role = roles->of_row[tried[i].row];
        ends.ok += role == ROAST_ROLE_COUNTS || role == ROAST_ROLE_BARE;
        ends.open += role == ROAST_ROLE_OPEN;
        ends.failed += role == ROAST_ROLE_FAILED &&
                       !roast__is_preprocess_failure(run, tried[i].row);
        ends.lost += role == ROAST_ROLE_LOST;
        ends.cancelled += role == ROAST_ROLE_CANCELLED;
        if ((role == ROAST_ROLE_COUNTS || role == ROAST_ROLE_BARE) && i != counted) {
            roles->rows[roles->of_row[tried[i].row]]--;
            roles->rows[ROAST_ROLE_REPEAT]++;
            roles->of_row[tried[i].row] = (unsigned char)ROAST_ROLE_REPEAT;
        }
        roles->retries[roles->retry_count++] =
            (struct roast_retry){tried[i].row, (uint32_t)(i + 1), counted < count};
    }
    /* So far the chunk was counted once per attempt; count it once. */
    uint64_t all = ends.ok + ends.open + ends.failed + ends.lost + ends.cancelled;
    bool running = ends.ok == 0 && ends.open > 0;
    bool failed = ends.ok + ends.open == 0 && ends.failed > 0;
    bool lost = ends.ok + ends.open + ends.failed == 0 && ends.lost > 0;
    roles->chunks -= all > 0 ? all - 1 : 0;
    roles->retried_chunks += all > 1;
    roles->successful_chunks -= ends.ok > 0 ? ends.ok - 1 : 0;
    roles->running_chunks -= ends.open - running;
    roles->failed_chunks -= ends.failed - failed;
    roles->lost_chunks -= ends.lost - lost;
    roles->cancelled_chunks -= ends.cancelled - (ends.cancelled == all && all > 0);
}

static int64_t start_of(const struct roast_attempts *attempts, size_t row)
{
    int64_t start, end;

    return roast__attempt_times(attempts, row, &start, &end) ? start : INT64_MAX;
}

static bool resolve_chunks(struct roast_roles *roles,
                           const struct roast_same_chunk *pairs, size_t count,
                           const struct roast_run *run)
{
    struct chunk_attempt *tried = roast__alloc(2 * count * sizeof(tried[0]));

    roles->retries = roast__alloc(2 * count * sizeof(roles->retries[0]));
    if (!tried || !roles->retries) {
        roast__free(tried);
        return false;
    }
    /* Every row of these chunks. A first row is in every pair of its chunk: the copies
     * are dropped after sorting. */
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t first = pairs[i].first, row = pairs[i].row;
        tried[used++] =
            (struct chunk_attempt){first, row, start_of(&run->attempts, row)};
        tried[used++] =
            (struct chunk_attempt){first, first, start_of(&run->attempts, first)};
    }
    qsort(tried, used, sizeof(tried[0]), by_chunk_and_start);
    size_t kept = 0;
    for (size_t i = 0; i < used; i++) {
        if (kept == 0 || tried[kept - 1].row != tried[i].row)
            tried[kept++] = tried[i];
    }
    for (size_t from = 0, to; from < kept; from = to) {
        to = from + 1;
        while (to < kept && tried[to].first == tried[from].first)
            to++;
        resolve_chunk(roles, run, tried + from, to - from);
    }
    qsort(roles->retries, roles->retry_count, sizeof(roles->retries[0]), by_row);
    roast__free(tried);
    return true;
}

/* ---- all ------------------------------------------------------------------------- */

int roast__roles_find(struct roast_roles *roles, const struct roast_run *run,
                      roast_error *err)
{
    struct roast_same_chunk *pairs = NULL;
    size_t count = 0;
    int status = roast__same_chunks(&pairs, &count, run, err);

    if (status < 0)
        goto out;
    roles->of_row = roast__realloc(NULL, run->attempts.count);
    if (roles->of_row)
        set_single_roles(roles, run);
    if (!roles->of_row || (count > 0 && !resolve_chunks(roles, pairs, count, run)) ||
        !roast__roles_find_failed_files(roles, run))
        status = roast_error_set(err, ROAST_NO_MEMORY, "roles of %zu attempts",
                                 run->attempts.count);
out:
    roast__free(pairs);
    return status;
}

const struct roast_retry *roast__roles_retry(const struct roast_roles *roles,
                                             size_t row)
{
    struct roast_retry key = {.row = (uint32_t)row};

    if (roles->retry_count == 0)
        return NULL;
    return bsearch(&key, roles->retries, roles->retry_count, sizeof(key), by_row);
}

const char *roast__role_status(const struct roast_run *run, enum roast_role role)
{
    switch (role) {
    case ROAST_ROLE_COUNTS:
    case ROAST_ROLE_BARE:
        return "ok";
    case ROAST_ROLE_REPEAT:
        return "repeat";
    case ROAST_ROLE_FAILED:
        return "failed";
    case ROAST_ROLE_LOST:
        return "lost";
    case ROAST_ROLE_CANCELLED:
        return "cancelled";
    default:
        return run->end_ns == 0 ? "running" : NULL;
    }
}

bool roast__roles_resolved(const struct roast_roles *roles, const struct roast_run *run,
                           size_t row)
{
    const struct roast_retry *retry = roast__roles_retry(roles, row);

    if (retry && retry->resolved)
        return true;
    return roles->file_read && roast__is_preprocess_failure(run, row) &&
           roles->file_read[run->attempts.source[row]];
}

void roast__roles_release(struct roast_roles *roles)
{
    roast__free(roles->of_row);
    roast__free(roles->retries);
    roast__free(roles->file_read);
    *roles = (struct roast_roles){0};
}
