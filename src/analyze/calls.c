/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - the calls of Runner.run inside a run, and the call of every attempt. */
#include "analyze/calls.h"

#include "analyze/timeline.h"
#include "base/mem.h"

/* ---- the end of the run ----------------------------------------------------------------- */

int64_t roast__run_end(const struct roast_run *run)
{
    int64_t latest = run->end_ns != 0 ? run->end_ns : run->start_ns;
    bool ended = run->end_ns != 0;

    for (size_t i = 0; !ended && i < run->moment_count; i++) {
        if (run->moments[i].time_ns > latest)
            latest = run->moments[i].time_ns;
    }
    for (size_t row = 0; !ended && row < run->attempts.count; row++) {
        int64_t start, end;
        if (roast__attempt_times(&run->attempts, row, &start, &end) && end > latest)
            latest = end;
    }
    for (size_t i = 0; !ended && i < run->samples.count; i++) {
        const struct roast_worker_samples *worker = &run->samples.workers[i];
        int64_t time_ns;
        if (worker->ticks > 0 &&
            !__builtin_mul_overflow(worker->last_time_us, 1000, &time_ns) &&
            time_ns > latest)
            latest = time_ns;
    }
    /* not before the start, and the length of the run does not overflow */
    return roast__sat_add(run->start_ns, roast__time_between(run->start_ns, latest));
}

/* ---- calls ---------------------------------------------------------------------- */

size_t roast__calls_count(const struct roast_run *run)
{
    size_t count = 0;

    for (size_t i = 0; i < run->moment_count; i++)
        count += run->moments[i].mark == ROAST_MARK_RUN_BEGIN;
    return count;
}

/* The current call while the marks are read. */
struct open_call {
    struct roast_call *call; /* NULL: between calls */
    bool preprocessing;
    int64_t preprocess_begin_ns;
};

static void end_preprocess(struct open_call *open, int64_t time_ns)
{
    if (!open->call || !open->preprocessing)
        return;
    open->preprocessing = false;
    open->call->preprocess_ns =
        roast__sat_add(open->call->preprocess_ns,
                       roast__time_between(open->preprocess_begin_ns, time_ns));
    open->call->preprocess_end_ns = time_ns;
}

static void end_call(struct open_call *open, int64_t time_ns)
{
    end_preprocess(open, time_ns);
    if (open->call)
        open->call->end_ns = time_ns;
    open->call = NULL;
}

/* The call that was running at a time. */
static int32_t call_at(const struct roast_calls *calls, int64_t time_ns)
{
    size_t begun = roast__count_until(&calls->calls[0].begin_ns,
                                      sizeof(calls->calls[0]), calls->count, time_ns);

    if (begun == 0 || time_ns > calls->calls[begun - 1].end_ns)
        return ROAST_NO_CALL;
    return (int32_t)(begun - 1);
}

/* ---- outputs -------------------------------------------------------------------- */

static double fact_of(const struct roast_run *run, enum roast_fact fact)
{
    return run->fact_known[fact] ? run->facts[fact] : 0;
}

/* The number of calls; if it is not known, one if there are attempts. */
static double count_calls(const struct roast_run *run)
{
    if (run->fact_known[ROAST_FACT_runner_calls])
        return run->facts[ROAST_FACT_runner_calls];
    double begins = (double)roast__calls_count(run);
    return begins > 0 ? begins : (double)(run->attempts.count > 0);
}

double roast__run_outputs(const struct roast_run *run)
{
    double failures = fact_of(run, ROAST_FACT_runner_failures);

    if (run->fact_known[ROAST_FACT_runner_outputs])
        return run->facts[ROAST_FACT_runner_outputs];
    if (roast__calls_count(run) > 0) {
        double ends = 0;
        for (size_t i = 0; i < run->moment_count; i++)
            ends += run->moments[i].mark == ROAST_MARK_RUN_END;
        return ends - failures;
    }
    bool failed =
        roast__notes_get(&run->notes, ROAST_NOTES_run, roast_str_of("failure")).data;
    return run->end_ns == 0 || failed ? 0 : count_calls(run) - failures;
}

enum roast_returned roast__run_returned(const struct roast_run *run)
{
    if (roast__run_outputs(run) < count_calls(run))
        return ROAST_RETURNED_NOTHING;
    return fact_of(run, ROAST_FACT_runner_failures) > 0 ? ROAST_RETURNED_PART
                                                        : ROAST_RETURNED_ALL;
}

/* ---- all ------------------------------------------------------------------------ */

bool roast__calls_find(struct roast_calls *calls, const struct roast_run *run)
{
    size_t count = roast__calls_count(run);

    if (count == 0)
        return true;
    calls->calls = roast__alloc(count * sizeof(calls->calls[0]));
    calls->of_row = roast__alloc(run->attempts.count * sizeof(calls->of_row[0]));
    if (!calls->calls || !calls->of_row) {
        roast__calls_release(calls);
        return false;
    }
    int64_t end_ns = roast__run_end(run);
    struct open_call open = {0};
    for (size_t i = 0; i < run->moment_count; i++) {
        int64_t time_ns =
            roast__time_clamp(run->moments[i].time_ns, run->start_ns, end_ns);
        switch (run->moments[i].mark) {
        case ROAST_MARK_RUN_BEGIN:
            end_call(&open, time_ns);
            open.call = &calls->calls[calls->count++];
            *open.call = (struct roast_call){
                .begin_ns = time_ns, .end_ns = time_ns, .preprocess_end_ns = time_ns};
            break;
        case ROAST_MARK_PREPROCESS_BEGIN:
            end_preprocess(&open, time_ns);
            open.preprocessing = open.call != NULL;
            open.preprocess_begin_ns = time_ns;
            break;
        case ROAST_MARK_PREPROCESS_END:
            end_preprocess(&open, time_ns);
            break;
        case ROAST_MARK_RUN_RAISED:
            if (open.call)
                open.call->raised = true;
            break;
        case ROAST_MARK_RUN_END:
            if (open.call)
                open.call->has_end = true;
            end_call(&open, time_ns);
            break;
        }
    }
    end_call(&open, end_ns);
    /* Facts count all calls together: if only some of the calls that did not raise
     * returned an output, it is not known which. */
    size_t ended = 0;
    for (size_t i = 0; i < calls->count; i++)
        ended += calls->calls[i].has_end && !calls->calls[i].raised;
    bool all_returned = roast__run_outputs(run) >= (double)ended;
    for (size_t i = 0; i < calls->count; i++)
        calls->calls[i].returned =
            calls->calls[i].has_end && !calls->calls[i].raised && all_returned;
    for (size_t row = 0; row < run->attempts.count; row++) {
        int64_t start, end;
        bool known = roast__attempt_times(&run->attempts, row, &start, &end);
        calls->of_row[row] = known ? call_at(calls, start) : ROAST_NO_CALL;
    }
    return true;
}

void roast__calls_release(struct roast_calls *calls)
{
    roast__free(calls->calls);
    roast__free(calls->of_row);
    *calls = (struct roast_calls){0};
}
