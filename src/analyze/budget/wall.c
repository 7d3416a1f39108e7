/* SPDX-License-Identifier: BSD-3-Clause */
/* wall.c - the wall time of the run by part; the parts add up to it.
 *
 *     Runner.run   preprocess | wait_first_worker | chunks | tail | merge
 *     the rest     client
 *
 * What the client did itself (client_times.h) is taken out of all of them.
 *
 * Preprocessing begins when entries of the first file are counted, chunks when the first
 * one is sent: time of the client before that is its own, unless no worker was available
 * yet, or others had its threads. A pool has its chunks when preprocessing ends. For the
 * tail see phases.h. A call without output has no merge: all time after its first
 * attempt, except for the tail, is time of its chunks. Every border is clamped between
 * the previous one and the end of the call, so no part is negative. */
#include "analyze/budget/budget.h"
#include "analyze/calls.h"
#include "analyze/formulas.h"
#include "analyze/timeline.h"
#include "base/mem.h"

static const double HELD = 0.9; /* of the threads, by others, while a call waits */

/* In the order of the columns of wall_account. */
enum wall {
    WAIT,
    CLIENT,
    PREPROCESS,
    CHUNKS,
    TAIL,
    MERGE,
    POOL_START,
    POOL_STOP,
    POSTPROCESS,
    MONITOR,
    WALL_PARTS
};
_Static_assert((int)POOL_START + (int)ROAST_CLIENT_MONITOR == (int)MONITOR,
               "the last parts are those of roast_client_work");

struct wall_account {
    int64_t parts[WALL_PARTS];
    const struct roast_client_times *client;
};

/* The attempts of one call. */
struct attempts_of_call {
    bool any;
    int64_t first_ns; /* earliest start */
    int64_t end_ns;   /* latest end */
};

/* ---- the account ----------------------------------------------------------------- */

/* Times may come from damaged files: sums must not overflow. */
static void add_whole(struct wall_account *account, enum wall part, int64_t from_ns,
                      int64_t to_ns)
{
    account->parts[part] =
        roast__sat_add(account->parts[part], roast__time_between(from_ns, to_ns));
}

/* Adds the time in which the client did no work of its own. */
static void add(struct wall_account *account, enum wall part, int64_t from_ns,
                int64_t to_ns)
{
    const struct roast_client_time *items = account->client->items;
    size_t count = account->client->count;
    size_t i = count > 0 ? roast__count_until(&items[0].to_ns, sizeof(items[0]), count,
                                              from_ns)
                         : 0;

    for (; i < count && items[i].from_ns < to_ns; i++) {
        add_whole(account, part, from_ns, items[i].from_ns);
        from_ns = items[i].to_ns > from_ns ? items[i].to_ns : from_ns;
    }
    add_whole(account, part, from_ns, to_ns);
}

/* When the first thread after a time was available. */
static int64_t available_after(const struct roast_summary_context *ctx, int64_t time_ns)
{
    int64_t available = INT64_MAX;

    for (size_t i = 0; i < ctx->budget->schedule.shift_count; i++) {
        const struct roast_shift *shift = &ctx->budget->schedule.shifts[i];
        if (shift->threads > 0 && shift->to_ns > time_ns && shift->from_ns < available)
            available = shift->from_ns;
    }
    return available;
}

/* The preprocessing phases of the budget, and before them the time without any worker.
 * Calls and intervals are sorted by time: *next is the first interval that this call or
 * a later one may overlap. */
static void add_preprocess(struct wall_account *account, const struct roast_call *call,
                           const struct roast_summary_context *ctx, size_t *next)
{
    const struct roast_phases *phases = &ctx->budget->phases;
    int64_t ready = call->preprocess_end_ns;
    int64_t begin = roast__sat_sub(ready, call->preprocess_ns), counted = ready;

    for (size_t i = *next; i < phases->count; i++) {
        const struct roast_phase_interval *interval = &phases->intervals[i];
        int64_t to_ns = i + 1 < phases->count ? interval[1].from_ns : ctx->end_ns;
        if (interval->from_ns >= ready)
            break;
        *next = i;
        if (interval->phase != ROAST_PHASE_PREPROCESS || to_ns <= call->begin_ns)
            continue;
        int64_t from_ns = roast__time_clamp(interval->from_ns, call->begin_ns, to_ns);
        add(account, PREPROCESS, from_ns, to_ns < ready ? to_ns : ready);
        counted = from_ns < counted ? from_ns : counted;
    }
    int64_t available = available_after(ctx, begin);
    add(account, WAIT, begin, available < counted ? available : counted);
}

/* Whether tasks of others had the threads before the first chunk of a call was sent. */
static bool are_held(const struct roast_budget *budget, double waited_s)
{
    double held_s = budget->by_phase[ROAST_PHASE_BEFORE][ROAST_SLICE_foreign] +
                    budget->by_phase[ROAST_PHASE_BETWEEN][ROAST_SLICE_foreign];
    double wall_s = roast__seconds_between(budget->start_ns, budget->end_ns);

    return held_s > 0 && held_s >= HELD * waited_s * budget->offered_s / wall_s;
}

/* When the first chunk was sent, or a pool had it. */
static int64_t first_sent(const struct roast_summary_context *ctx, int64_t ready,
                          int64_t first)
{
    const struct roast_phases *phases = &ctx->budget->phases;
    const struct roast_offer *offer = roast__run_offer_at(ctx->run, first);

    if (!ctx->budget->schedule.has_scheduler) /* a single worker is the client itself */
        return offer && offer->workers > 1 ? ready : first;
    for (size_t i = 0; i < phases->count; i++) {
        enum roast_phase phase = phases->intervals[i].phase;
        int64_t to_ns =
            i + 1 < phases->count ? phases->intervals[i + 1].from_ns : first;
        if (to_ns > ready && (phase == ROAST_PHASE_CHUNKS || phase == ROAST_PHASE_TAIL))
            return roast__time_clamp(phases->intervals[i].from_ns, ready, first);
    }
    return first;
}

/* The tail is that of the budget; if the threads are not known, there is none. */
static void add_call(struct wall_account *account, const struct roast_call *call,
                     const struct attempts_of_call *work,
                     const struct roast_tail *known,
                     const struct roast_summary_context *ctx)
{
    int64_t ready = call->preprocess_end_ns;
    int64_t tail_ns = known->any ? known->from_ns : work->end_ns;
    int64_t last_ns = known->any ? known->to_ns : work->end_ns;

    if (!work->any)
        return;
    int64_t first = roast__time_clamp(work->first_ns, ready, call->end_ns);
    int64_t tail = roast__time_clamp(tail_ns, first, call->end_ns);
    int64_t last = roast__time_clamp(last_ns, tail, call->end_ns);
    int64_t sent = first_sent(ctx, ready, first);
    int64_t available = ready; /* where threads are not known */
    if (ctx->budget->schedule.shift_count > 0)
        available = roast__time_clamp(available_after(ctx, ready), ready, first);
    double waited_s = roast__seconds_between(ready, sent);
    if (sent > available && are_held(ctx->budget, waited_s)) {
        ctx->budget->held_s += waited_s;
        available = sent;
    }
    add(account, WAIT, ready, available);
    add(account, CHUNKS, available > sent ? available : sent, tail);
    add(account, TAIL, tail, last);
    add(account, call->returned ? MERGE : CHUNKS, last, call->end_ns);
}

void roast__summarize_wall(const struct roast_summary_context *ctx)
{
    const struct roast_run *run = ctx->run;
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_wall_account);
    struct wall_account account = {.client = &ctx->budget->phases.client};
    int64_t *parts = account.parts;
    struct roast_calls calls = {0};
    struct attempts_of_call *work = NULL;
    bool done = roast__calls_find(&calls, run);

    if (done && calls.count > 0) {
        work = roast__alloc(calls.count * sizeof(work[0]));
        done = work != NULL;
        if (done) {
            for (size_t row = 0; row < run->attempts.count; row++) {
                int64_t start, end;
                if (calls.of_row[row] == ROAST_NO_CALL ||
                    !roast__attempt_times(&run->attempts, row, &start, &end))
                    continue;
                struct attempts_of_call *own = &work[calls.of_row[row]];
                if (start < calls.calls[calls.of_row[row]].preprocess_end_ns)
                    continue; /* a failure of preprocessing */
                if (!own->any)
                    *own = (struct attempts_of_call){true, start, end};
                own->first_ns = start < own->first_ns ? start : own->first_ns;
                own->end_ns = end > own->end_ns ? end : own->end_ns;
            }
        }
    }
    if (!done)
        ctx->summary->failed = true;
    size_t interval = 0;
    for (size_t i = 0; done && i < calls.count; i++) {
        const struct roast_call *call = &calls.calls[i];
        add_preprocess(&account, call, ctx, &interval);
        add_call(&account, call, &work[i], &ctx->budget->phases.tails[i], ctx);
    }
    for (size_t i = 0; i < account.client->count; i++) {
        const struct roast_client_time *own = &account.client->items[i];
        add_whole(&account, (enum wall)((int)POOL_START + (int)own->work), own->from_ns,
                  own->to_ns);
    }
    if (done && calls.count == 0 && run->attempts.count > 0) {
        roast__summary_unavailable(ctx->summary, "wall_account",
                                   "no call of Runner.run was recorded");
    } else if (done && !roast__run_is_command(run) &&
               ctx->summary->values.known[ROAST_METRIC_wall_time]) {
        parts[CLIENT] = roast__time_between(ctx->run->start_ns, ctx->end_ns);
        for (int i = 0; i < WALL_PARTS; i++)
            parts[CLIENT] = roast__sat_sub(parts[CLIENT], i == CLIENT ? 0 : parts[i]);
        roast__table_row(table);
        for (int i = 0; i < WALL_PARTS; i++)
            roast__fill_number(table, ROAST_COL_wall_account_wait_first_worker + i,
                               (double)parts[i] / 1e9);
    }
    roast__free(work);
    roast__calls_release(&calls);
}
