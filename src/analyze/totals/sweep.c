/* SPDX-License-Identifier: BSD-3-Clause */
/* sweep.c - one series of several workers, summed over the workers at every time.
 *
 * A heap has one lane per worker, the one with the earliest next sample first. All lanes
 * with a sample at the same time advance together, so a sum is the sum at one time. */
#include "analyze/totals/sweep.h"

#include "analyze/heap.h"
#include "analyze/timeline.h"
#include "base/mem.h"

struct lane {
    struct roast_series_cursor cursor;
    uint32_t group;
    bool joined; /* the sweep has passed its first sample */
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
    struct roast_keyed *heap; /* owned; lanes by until_ns */
    size_t heap_count;
    size_t *due; /* owned; lanes with a sample at time_ns */
    size_t due_count;
    struct group *groups; /* owned */
    int64_t time_ns;
    double sum;
};

/* ---- lanes ----------------------------------------------------------------------- */

/* Reads the next sample of a lane; false at its end. Time does not go back where a clock
 * was set back. */
static bool next_sample(struct lane *lane)
{
    int64_t time_ns;

    if (roast__series_next(&lane->cursor, &time_ns, &lane->value, &lane->known) != 1)
        return false;
    if (!lane->joined || time_ns > lane->until_ns)
        lane->until_ns = time_ns;
    return true;
}

static double mean_of(const struct group *group)
{
    return group->count > 0 ? group->sum / group->count : 0;
}

/* Adds the value of a lane to the sum (sign 1), or removes it (sign -1). */
static void count_lane(struct sweep *sweep, const struct lane *lane, int sign)
{
    struct group *group = &sweep->groups[lane->group];

    if (!lane->known)
        return;
    sweep->sum -= mean_of(group);
    group->count += (uint32_t)sign;
    group->sum = group->count > 0 ? group->sum + sign * lane->value : 0;
    sweep->sum += mean_of(group);
}

static void push(struct sweep *sweep, size_t lane)
{
    roast__heap_push(sweep->heap, &sweep->heap_count,
                     (struct roast_keyed){sweep->lanes[lane].until_ns, (uint32_t)lane});
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

/* Advances the due lanes and moves to the next time with samples; false at the end. */
static bool next_time(struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->due_count; i++) {
        struct lane *lane = &sweep->lanes[sweep->due[i]];
        count_lane(sweep, lane, -1);
        if (!next_sample(lane))
            continue;
        count_lane(sweep, lane, 1);
        push(sweep, sweep->due[i]);
    }
    sweep->due_count = 0;
    if (sweep->heap_count == 0)
        return false;
    sweep->time_ns = sweep->heap[0].key;
    while (sweep->heap_count > 0 && sweep->heap[0].key == sweep->time_ns)
        sweep->due[sweep->due_count++] =
            roast__heap_pop(sweep->heap, &sweep->heap_count).item;
    return true;
}

/* Counts the lanes whose first sample is at the current time. */
static void join_due(struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->due_count; i++) {
        struct lane *lane = &sweep->lanes[sweep->due[i]];
        if (!lane->joined)
            count_lane(sweep, lane, 1);
        lane->joined = true;
    }
}

static void release(struct sweep *sweep)
{
    roast__free(sweep->lanes);
    roast__free(sweep->heap);
    roast__free(sweep->due);
    roast__free(sweep->groups);
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

bool roast__sweep(struct roast_sweep *out, const struct roast_lanes *lanes,
                  enum roast_series series)
{
    struct sweep sweep = {0};
    double area = 0, seconds = 0;

    *out = (struct roast_sweep){0};
    if (!any_values(lanes, series))
        return true;
    out->known = open_lanes(&sweep, lanes, series);
    if (out->known && sweep.heap_count > 0)
        sweep.time_ns = sweep.heap[0].key;
    for (int64_t before_ns = sweep.time_ns; out->known && next_time(&sweep);
         before_ns = sweep.time_ns) {
        double length_s = roast__seconds_between(before_ns, sweep.time_ns);
        area += sweep.sum * length_s;
        seconds += length_s;
        if (length_s > 0 && sweep.sum > out->peak)
            out->peak =
                sweep.sum; /* a lane that joins may lower the mean of its group */
        join_due(&sweep);
        if (sweep.sum > out->peak)
            out->peak = sweep.sum;
    }
    out->mean = seconds > 0 ? area / seconds : out->peak;
    release(&sweep);
    return out->known;
}

bool roast__sweep_times(const struct roast_samples *samples,
                        void (*visit)(void *context, int64_t time_ns), void *context)
{
    struct roast_lanes lanes = {.samples = samples};
    struct sweep sweep = {0};
    bool opened = open_lanes(&sweep, &lanes, ROAST_SERIES_memory);
    bool first = true;

    for (int64_t before_ns = 0; opened && next_time(&sweep);
         before_ns = sweep.time_ns) {
        join_due(&sweep);
        if (first || sweep.time_ns > before_ns)
            visit(context, sweep.time_ns);
        first = false;
    }
    release(&sweep);
    return opened;
}
