/* SPDX-License-Identifier: BSD-3-Clause */
/* wall.c - where the wall time of the run went; the parts add up to it.
 *
 *     Runner.run   preprocess | wait_first_worker | chunks | tail | merge
 *     the rest     client
 *
 * Preprocessing begins when entries of the first file are counted: what the client imports and plans
 * before is its own, unless there was no worker yet. The tail begins when no chunk is
 * left to begin and a thread has none (phases.h). A call that gave no output has no
 * merge: it lost attempts, or more of them were to come, so all but the tail from its
 * first attempt on is the time of its chunks.
 * Every border is held between the one before it and the end of the call, so nothing is
 * negative, and the client takes what is left. */
#include "analyze/budget/budget.h"
#include "analyze/calls.h"
#include "analyze/formulas.h"
#include "analyze/timeline.h"
#include "base/mem.h"

/* In the order of the columns of wall_account. */
enum wall { WAIT, CLIENT, PREPROCESS, CHUNKS, TAIL, MERGE, WALL_PARTS };

/* The attempts of one call. */
struct work {
    bool any;
    int64_t first_ns; /* earliest start */
    int64_t end_ns;   /* latest end */
};

/* ---- the account ----------------------------------------------------------------- */

/* Marks may come from any file, and have any time. */
static void add(int64_t *part, int64_t from_ns, int64_t to_ns)
{
    *part = roast__sat_add(*part, roast__time_between(from_ns, to_ns));
}

/* The time in which entries were counted, as the budget has it, and before it the time
 * without any worker. Calls and steps are by time: *next is the first step that this
 * call or a later one may overlap. */
static void add_preprocess(int64_t parts[WALL_PARTS], const struct roast_call *call,
                           const struct roast_summary_context *ctx, size_t *next)
{
    const struct roast_phases *phases = &ctx->budget->phases;
    int64_t ready = call->preprocess_end_ns;
    int64_t begin = roast__sat_sub(ready, call->preprocess_ns), counted = ready;

    for (size_t i = *next; i < phases->count; i++) {
        const struct roast_phase_step *step = &phases->steps[i];
        int64_t to_ns = i + 1 < phases->count ? step[1].from_ns : ctx->end_ns;
        if (step->from_ns >= ready)
            break;
        *next = i;
        if (step->phase != ROAST_PHASE_PREPROCESS || to_ns <= call->begin_ns)
            continue;
        int64_t from_ns = roast__time_clamp(step->from_ns, call->begin_ns, to_ns);
        add(&parts[PREPROCESS], from_ns, to_ns < ready ? to_ns : ready);
        counted = from_ns < counted ? from_ns : counted;
    }
    /* When there was a thread, from a moment on. */
    int64_t there = INT64_MAX;
    for (size_t i = 0; i < ctx->budget->schedule.shift_count; i++) {
        const struct roast_shift *shift = &ctx->budget->schedule.shifts[i];
        if (shift->threads > 0 && shift->to_ns > begin && shift->from_ns < there)
            there = shift->from_ns;
    }
    add(&parts[WAIT], begin, there < counted ? there : counted);
}

/* The tail is that of the budget; without threads that are known there is none. */
static void add_call(int64_t parts[WALL_PARTS], const struct roast_call *call,
                     const struct work *work, const struct roast_tail *seen,
                     const struct roast_run *run)
{
    int64_t ready = call->preprocess_end_ns;
    int64_t tail_ns = seen->any ? seen->from_ns : work->end_ns;
    int64_t last_ns = seen->any ? seen->to_ns : work->end_ns;

    if (!work->any)
        return;
    int64_t first = roast__time_clamp(work->first_ns, ready, call->end_ns);
    int64_t tail = roast__time_clamp(tail_ns, first, call->end_ns);
    int64_t last = roast__time_clamp(last_ns, tail, call->end_ns);
    const struct roast_offer *offer = roast__run_offer_at(run, first);
    if (offer && offer->workers > 1) /* one worker is the client itself */
        add(&parts[WAIT], ready, first);
    add(&parts[CHUNKS], first, tail);
    add(&parts[TAIL], tail, last);
    add(&parts[call->returned ? MERGE : CHUNKS], last, call->end_ns);
}

void roast__summarize_wall(const struct roast_summary_context *ctx)
{
    const struct roast_run *run = ctx->run;
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_wall_account);
    int64_t parts[WALL_PARTS] = {0};
    struct roast_calls calls = {0};
    struct work *work = NULL;
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
                struct work *own = &work[calls.of_row[row]];
                if (start < calls.calls[calls.of_row[row]].preprocess_end_ns)
                    continue; /* a file that failed while its entries were counted */
                if (!own->any)
                    *own = (struct work){true, start, end};
                own->first_ns = start < own->first_ns ? start : own->first_ns;
                own->end_ns = end > own->end_ns ? end : own->end_ns;
            }
        }
    }
    if (!done)
        ctx->summary->failed = true;
    size_t step = 0;
    for (size_t i = 0; done && i < calls.count; i++) {
        const struct roast_call *call = &calls.calls[i];
        add_preprocess(parts, call, ctx, &step);
        add_call(parts, call, &work[i], &ctx->budget->phases.tails[i], run);
    }
    if (done && calls.count == 0 && run->attempts.count > 0) {
        roast__summary_miss(ctx->summary, "wall_account",
                            "no call of Runner.run was seen");
    } else if (done && ctx->summary->values.known[ROAST_METRIC_wall_time]) {
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
