/* SPDX-License-Identifier: BSD-3-Clause */
/* ladder.c - assigns every nanosecond of an attempt to one slice.
 *
 * Entering and leaving happens thousands of times in an attempt: it costs one reading
 * of the monotonic clock, and none when the slice does not change. The CPU clock is a
 * system call, so only fetch reads it, between the two readings of the other clock: the
 * CPU time of fetch is never longer than its time. */
#include "probe/ladder/ladder.h"

#include "base/clock.h"
#include "probe/chunk/thread.h"
#include "probe/linux/usage.h"

bool roast_ladder_active(const roast_thread *thread)
{
    return thread && thread->attempt.depth > 0 && thread->attempt.ladder.armed;
}

static struct roast_ladder_state *active(roast_thread *thread)
{
    return roast_ladder_active(thread) ? &thread->attempt.ladder : NULL;
}

/* ---- the clock --------------------------------------------------------------- */

/* Adds the time since the last switch to the current slice. */
static void add_time(struct roast_ladder_state *state, int64_t now_ns)
{
    state->sums.values[state->now] += (uint64_t)(now_ns - state->switched_ns);
    state->switched_ns = now_ns;
}

static void leave_fetch(struct roast_ladder_state *state)
{
    int64_t cpu_ns = roast__clock_thread_ns() - state->fetch_cpu_ns;

    state->sums.values[ROAST_ITEM_fetch_cpu] += (uint64_t)cpu_ns;
}

static void switch_to(struct roast_ladder_state *state, enum roast_ladder_item slice)
{
    if (slice == state->now)
        return;
    if (state->now == ROAST_ITEM_fetch)
        leave_fetch(state);
    add_time(state, roast__clock_mono_ns());
    if (slice == ROAST_ITEM_fetch)
        state->fetch_cpu_ns = roast__clock_thread_ns();
    state->now = slice;
}

static enum roast_ladder_item innermost(const struct roast_ladder_state *state)
{
    return state->depth > 0 ? state->entered[state->depth - 1].slice : state->phase;
}

/* ---- arming ------------------------------------------------------------------ */

static bool read_runqueue(struct roast_procfile *file, uint64_t *runqueue_ns)
{
    struct roast_sched sched;

    if (!roast__sched_read(file, &sched))
        return false;
    *runqueue_ns = sched.runqueue_ns;
    return true;
}

/* Marks slices as missing whose hooks were not placed, or were removed since. */
static void mark_missing_hooks(struct roast_ladder_state *state, uint64_t hooks_missing)
{
    struct roast_ladder *sums = &state->sums;

    roast_ladder_set(sums, ROAST_ITEM_hooks_missing,
                     sums->values[ROAST_ITEM_hooks_missing] | hooks_missing);
    for (unsigned hook = 0; hook < 64; hook++) {
        const struct roast_hook_info *info = roast_hook_info(hook);
        if (hooks_missing >> hook & 1 && info)
            state->missing |= info->slices;
    }
    state->reads.sees_all &= hooks_missing == 0;
}

void roast_ladder_arm(roast_thread *thread, uint64_t hooks_missing)
{
    struct roast_ladder_state *state = &thread->attempt.ladder;

    if (!roast_attempt_active(thread) || state->armed)
        return;
    state->armed = true;
    state->phase = state->now = ROAST_ITEM_import;
    state->switched_ns = thread->attempt.start_mono_ns;
    state->depth = 0;
    state->events_known = false;
    memset(&state->sums, 0, sizeof(state->sums));
    memset(&state->compute, 0, sizeof(state->compute));
    roast__reads_clear(&state->reads);
    state->reads.sees_all = true;
    state->missing = 0;
    if (hooks_missing != 0)
        mark_missing_hooks(state, hooks_missing);
    state->runqueue_known =
        read_runqueue(&thread->slow_files.schedstat, &state->runqueue_ns);
    roast__gil_watch(thread);
}

void roast_ladder_disarm(roast_thread *thread)
{
    if (roast_ladder_active(thread))
        thread->attempt.ladder.armed = false;
}

/* ---- phases ------------------------------------------------------------------ */

void roast__ladder_phase_at(struct roast_ladder_state *state,
                            enum roast_ladder_item slice, int64_t now_ns)
{
    if (slice <= state->phase)
        return;
    state->phase = slice;
    if (state->depth > 0)
        return; /* the entered slice keeps the time */
    add_time(state, now_ns);
    state->now = slice;
}

void roast_ladder_phase(roast_thread *thread, enum roast_ladder_item slice)
{
    struct roast_ladder_state *state = active(thread);

    if (!state || slice <= state->phase ||
        (slice != ROAST_ITEM_form && slice != ROAST_ITEM_compute &&
         slice != ROAST_ITEM_result))
        return;
    struct roast_compute_mark *mark = &state->compute;
    int64_t now_ns;
    if (slice == ROAST_ITEM_compute) {
        mark->reached = true;
        (void)roast__ladder_bytes(state, &mark->bytes);
        mark->rss_known = roast__rss_read(&thread->statm, &mark->rss_bytes);
        mark->cpu_ns = roast__clock_thread_ns();
        mark->epoch_ns = roast__clock_epoch_ns();
        now_ns = mark->mono_ns = roast__clock_mono_ns();
    } else {
        now_ns = roast__clock_mono_ns();
    }
    if (slice == ROAST_ITEM_result) {
        mark->ended = mark->reached;
        mark->end_mono_ns = now_ns;
        mark->end_cpu_ns = roast__clock_thread_ns();
    }
    roast__ladder_phase_at(state, slice, now_ns);
}

enum roast_ladder_item roast_ladder_phase_now(const roast_thread *thread)
{
    return roast_ladder_active(thread) ? thread->attempt.ladder.phase
                                       : ROAST_ITEM_unnamed;
}

/* ---- slices ------------------------------------------------------------------ */

enum { POSITION_BITS = 7 };

/* The position of a token in `entered`, from 1; 0 when it was left already. */
static unsigned position_of(const struct roast_ladder_state *state, unsigned token)
{
    unsigned position = token & ((1u << POSITION_BITS) - 1);

    if (position == 0 || position > state->depth ||
        state->entered[position - 1].token != token)
        return 0;
    return position;
}

unsigned roast_ladder_enter(roast_thread *thread, enum roast_ladder_item slice)
{
    struct roast_ladder_state *state = active(thread);

    if (!state || !roast__is_slice(slice) || state->depth == ROAST_LADDER_MAX_DEPTH)
        return 0;
    struct roast_entered *entered = &state->entered[state->depth++];
    entered->token = ++state->serial << POSITION_BITS | state->depth;
    entered->slice = slice;
    switch_to(state, slice);
    return entered->token;
}

void roast_ladder_leave(roast_thread *thread, unsigned token)
{
    struct roast_ladder_state *state = active(thread);
    unsigned position = state ? position_of(state, token) : 0;

    if (position == 0)
        return;
    state->depth = position - 1;
    switch_to(state, innermost(state));
}

void roast_ladder_become(roast_thread *thread, unsigned token,
                         enum roast_ladder_item slice)
{
    struct roast_ladder_state *state = active(thread);
    unsigned position = state ? position_of(state, token) : 0;

    if (position == 0 || !roast__is_slice(slice))
        return;
    state->entered[position - 1].slice = slice;
    switch_to(state, innermost(state));
}

/* ---- other items ------------------------------------------------------------- */

void roast_ladder_add(roast_thread *thread, enum roast_ladder_item item, uint64_t value)
{
    struct roast_ladder_state *state = active(thread);

    if (!state || roast__is_slice(item) || item >= ROAST_ITEM_COUNT)
        return;
    if (item == ROAST_ITEM_hooks_missing)
        mark_missing_hooks(state, value);
    else
        roast_ladder_set(&state->sums, item, state->sums.values[item] + value);
}

void roast_ladder_events(roast_thread *thread, uint64_t num_events)
{
    struct roast_ladder_state *state = active(thread);

    if (!state)
        return;
    state->events_known = true;
    state->num_events = num_events;
}

bool roast__ladder_bytes(const struct roast_ladder_state *state, uint64_t *bytes)
{
    static const enum roast_ladder_item items[] = {
        ROAST_ITEM_open_bytes, ROAST_ITEM_metadata_bytes, ROAST_ITEM_column_bytes,
        ROAST_ITEM_other_bytes};
    bool known = false;

    *bytes = 0;
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
        *bytes += state->sums.values[items[i]];
        known |= roast_ladder_has(&state->sums, items[i]);
    }
    return known;
}

/* ---- the end ----------------------------------------------------------------- */

static void set_runqueue(struct roast_ladder_state *state, struct roast_procfile *file)
{
    uint64_t now_ns;

    if (state->runqueue_known && read_runqueue(file, &now_ns) &&
        now_ns >= state->runqueue_ns)
        roast_ladder_set(&state->sums, ROAST_ITEM_runqueue,
                         now_ns - state->runqueue_ns);
}

void roast__ladder_close(struct roast_ladder_state *state, struct roast_procfile *file,
                         int64_t now_ns)
{
    if (state->now == ROAST_ITEM_fetch)
        leave_fetch(state);
    add_time(state, now_ns);
    state->now = ROAST_ITEM_result; /* packing may follow */
    set_runqueue(state, file);
}

void roast__ladder_packed(struct roast_ladder_state *state, struct roast_procfile *file,
                          int64_t now_ns)
{
    add_time(state, now_ns);
    set_runqueue(state, file);
}

void roast__ladder_get(const struct roast_ladder_state *state, struct roast_ladder *out)
{
    uint32_t slices = (UINT32_C(1) << ROAST_SLICE_COUNT) - 1;

    *out = state->sums;
    for (uint32_t left = state->missing; left; left &= left - 1) {
        int slice = __builtin_ctz(left);
        out->values[ROAST_ITEM_unnamed] += out->values[slice];
        out->values[slice] = 0;
    }
    out->present |= slices & ~state->missing;
    if (roast_ladder_has(out, ROAST_ITEM_fetch))
        roast_ladder_set(out, ROAST_ITEM_fetch_cpu, out->values[ROAST_ITEM_fetch_cpu]);
}

void roast_ladder_snapshot(roast_thread *thread, struct roast_ladder *out)
{
    struct roast_ladder_state *state = active(thread);

    memset(out, 0, sizeof(*out));
    if (!state)
        return;
    add_time(state, roast__clock_mono_ns());
    roast__ladder_get(state, out);
}
