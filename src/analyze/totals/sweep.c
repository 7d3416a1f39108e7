/* SPDX-License-Identifier: BSD-3-Clause */
/* sweep.c - one series of several workers, summed over the workers at every moment.
 *
 * A heap holds one lane per worker, the one with the earliest next sample on top. All
 * lanes that are due at a moment are moved together: only then is a sum a sum of one
 * moment. */
#include "analyze/totals/sweep.h"

#include "analyze/timeline.h"
#include "base/mem.h"

struct lane {
    struct roast_series_cursor cursor;
    uint32_t group;
    bool joined; /* its first sample has passed */
    bool known;
    double value; /* holds until until_ns */
    int64_t until_ns;
};

struct group {
    double sum;
    uint32_t count;
};

struct sweep {
    struct lane *lanes; /* owned */
    size_t count;
    size_t *heap; /* owned; numbers of lanes */
    size_t heap_count;
    size_t *due;          /* owned; taken off the heap */
    struct group *groups; /* owned */
    double sum;
};

/* ---- the heap -------------------------------------------------------------------- */

static bool earlier(const struct sweep *sweep, size_t a, size_t b)
{
    return sweep->lanes[sweep->heap[a]].until_ns <
           sweep->lanes[sweep->heap[b]].until_ns;
}

static void swap(struct sweep *sweep, size_t a, size_t b)
{
    size_t lane = sweep->heap[a];

    sweep->heap[a] = sweep->heap[b];
    sweep->heap[b] = lane;
}

static void sink(struct sweep *sweep, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++) {
            if (child < sweep->heap_count && earlier(sweep, child, least))
                least = child;
        }
        if (least == at)
            return;
        swap(sweep, at, least);
        at = least;
    }
}

static void rise(struct sweep *sweep, size_t at)
{
    for (; at > 0 && earlier(sweep, at, (at - 1) / 2); at = (at - 1) / 2)
        swap(sweep, at, (at - 1) / 2);
}

static void push(struct sweep *sweep, size_t lane)
{
    sweep->heap[sweep->heap_count] = lane;
    rise(sweep, sweep->heap_count++);
}

/* ---- lanes ----------------------------------------------------------------------- */

/* Reads the next sample of a lane; false at its end. A clock that was set back does not
 * turn time around. */
static bool next_sample(struct lane *lane)
{
    int64_t time_ns;

    if (roast__series_next(&lane->cursor, &time_ns, &lane->value, &lane->known) != 1)
        return false;
    if (!lane->joined || time_ns > lane->until_ns)
        lane->until_ns = time_ns;
    return true;
}

static double share_of(const struct group *group)
{
    return group->count > 0 ? group->sum / group->count : 0;
}

/* Takes the lane's value into the sum, or out of it again. */
static void count_lane(struct sweep *sweep, const struct lane *lane, bool in)
{
    struct group *group = &sweep->groups[lane->group];

    if (!lane->known)
        return;
    sweep->sum -= share_of(group);
    group->sum += in ? lane->value : -lane->value;
    group->count += in ? 1 : UINT32_MAX; /* minus one */
    if (group->count == 0)
        group->sum = 0;
    sweep->sum += share_of(group);
}

static void release(struct sweep *sweep)
{
    roast__free(sweep->lanes);
    roast__free(sweep->heap);
    roast__free(sweep->due);
    roast__free(sweep->groups);
}

static bool open_lanes(struct sweep *sweep, const struct roast_lanes *lanes,
                       enum roast_series series)
{
    size_t count = lanes->samples->count;

    sweep->lanes = roast__alloc(count * sizeof(sweep->lanes[0]));
    sweep->heap = roast__alloc(count * sizeof(sweep->heap[0]));
    sweep->due = roast__alloc(count * sizeof(sweep->due[0]));
    sweep->groups = roast__alloc(count * sizeof(sweep->groups[0]));
    if (!sweep->lanes || !sweep->heap || !sweep->due || !sweep->groups)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct lane *lane = &sweep->lanes[sweep->count];
        if (lanes->wanted && !lanes->wanted[i])
            continue;
        lane->group = lanes->group ? lanes->group[i] : (uint32_t)i;
        roast__series_open(&lane->cursor, &lanes->samples->workers[i], series);
        if (next_sample(lane))
            push(sweep, sweep->count++);
    }
    return true;
}

/* Takes all lanes that are due at the earliest moment off the heap. */
static size_t take_due(struct sweep *sweep, int64_t *time_ns)
{
    size_t count = 0;

    *time_ns = sweep->lanes[sweep->heap[0]].until_ns;
    while (sweep->heap_count > 0 && sweep->lanes[sweep->heap[0]].until_ns == *time_ns) {
        sweep->due[count++] = sweep->heap[0];
        swap(sweep, 0, --sweep->heap_count);
        sink(sweep, 0);
    }
    return count;
}

/* A lane counts from its first sample on. */
static void join_due(struct sweep *sweep, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct lane *lane = &sweep->lanes[sweep->due[i]];
        if (!lane->joined)
            count_lane(sweep, lane, true);
        lane->joined = true;
    }
}

static void advance_due(struct sweep *sweep, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct lane *lane = &sweep->lanes[sweep->due[i]];
        count_lane(sweep, lane, false);
        if (!next_sample(lane))
            continue;
        count_lane(sweep, lane, true);
        push(sweep, sweep->due[i]);
    }
}

/* ---- entry points ---------------------------------------------------------------- */

static bool any_values(const struct roast_lanes *lanes, enum roast_series series)
{
    for (size_t i = 0; i < lanes->samples->count; i++) {
        if ((!lanes->wanted || lanes->wanted[i]) &&
            roast__series_of(&lanes->samples->workers[i], series)->changes.size_bytes >
                0)
            return true;
    }
    return false;
}

static void walk(struct roast_sweep *out, struct sweep *sweep)
{
    double area = 0, seconds = 0;
    int64_t before_ns = 0;
    bool first = true;

    while (sweep->heap_count > 0) {
        int64_t time_ns;
        size_t due = take_due(sweep, &time_ns);
        double length = first ? 0 : roast__seconds_between(before_ns, time_ns);
        area += sweep->sum * length;
        seconds += length;
        if (length > 0 && sweep->sum > out->peak)
            out->peak = sweep->sum; /* who joins may lower the mean of a group */
        join_due(sweep, due);
        if (sweep->sum > out->peak)
            out->peak = sweep->sum;
        advance_due(sweep, due);
        before_ns = time_ns;
        first = false;
    }
    out->mean = seconds > 0 ? area / seconds : out->peak;
}

bool roast__sweep(struct roast_sweep *out, const struct roast_lanes *lanes,
                  enum roast_series series)
{
    struct sweep sweep = {0};

    *out = (struct roast_sweep){0};
    if (!any_values(lanes, series))
        return true;
    bool opened = open_lanes(&sweep, lanes, series);
    if (opened) {
        walk(out, &sweep);
        out->known = true;
    }
    release(&sweep);
    return opened;
}

bool roast__sweep_moments(const struct roast_samples *samples,
                          void (*visit)(void *context, int64_t time_ns), void *context)
{
    struct roast_lanes lanes = {.samples = samples};
    struct sweep sweep = {0};
    bool opened = open_lanes(&sweep, &lanes, ROAST_SERIES_memory);
    bool first = true;
    int64_t before_ns = 0;

    while (opened && sweep.heap_count > 0) {
        int64_t time_ns;
        size_t due = take_due(&sweep, &time_ns);
        join_due(&sweep, due);
        advance_due(&sweep, due);
        if (first || time_ns > before_ns)
            visit(context, time_ns);
        first = false;
        before_ns = time_ns;
    }
    release(&sweep);
    return opened;
}
