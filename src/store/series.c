/* SPDX-License-Identifier: BSD-3-Clause */
/* series.c - reads the moments of a worker and one of its series, in order.
 *
 * The packed form is described in samples.c. Sums wrap like the differences did. */
#include "store/series.h"

#include <math.h>

#include "store/array.h"

static void read_change(struct roast_series_cursor *cursor, uint64_t last_tick)
{
    if (roast__cursor_left(&cursor->changes) == 0) {
        cursor->next_change = UINT64_MAX;
        return;
    }
    uint64_t head = roast__cursor_varint(&cursor->changes);
    cursor->next_change = last_tick + (head >> 1);
    cursor->next_known = head & 1;
    if (cursor->next_known)
        cursor->next_value =
            roast__wrap_add(cursor->next_value, roast__cursor_signed(&cursor->changes));
}

void roast__series_open(struct roast_series_cursor *cursor,
                        const struct roast_worker_samples *worker,
                        enum roast_series series)
{
    const struct roast_buf *times = &worker->times;
    const struct roast_buf *changes = &worker->series[series].changes;

    *cursor = (struct roast_series_cursor){
        .times = roast__cursor(times->data, times->size_bytes),
        .changes = roast__cursor(changes->data, changes->size_bytes),
        .ticks = worker->ticks,
        .steps = roast_series_info(series)->steps,
    };
    read_change(cursor, 0);
}

bool roast__series_step(struct roast_series_cursor *cursor)
{
    if (cursor->tick == cursor->ticks)
        return false;
    cursor->step_us =
        roast__wrap_add(cursor->step_us, roast__cursor_signed(&cursor->times));
    cursor->time_us = roast__wrap_add(cursor->time_us, cursor->step_us);
    if (cursor->tick == cursor->next_change) {
        cursor->value = cursor->next_value;
        cursor->known = cursor->next_known;
        read_change(cursor, cursor->tick);
    }
    cursor->tick++;
    return true;
}

int roast__series_next(struct roast_series_cursor *cursor, int64_t *time_ns,
                       double *value, bool *known)
{
    if (!roast__series_step(cursor))
        return 0;
    *time_ns = cursor->time_us * 1000; /* it was a number of ns before */
    *known = cursor->known;
    if (cursor->known)
        *value = (double)cursor->value / cursor->steps;
    return 1;
}

static void read_times(struct roast_series_cursor *cursor, int64_t *times_ns,
                       size_t count)
{
    int64_t step_us = cursor->step_us;
    int64_t time_us = cursor->time_us;

    for (size_t i = 0; i < count; i++) {
        step_us = roast__wrap_add(step_us, roast__cursor_signed(&cursor->times));
        time_us = roast__wrap_add(time_us, step_us);
        times_ns[i] = time_us * 1000; /* it was a number of ns before */
    }
    cursor->step_us = step_us;
    cursor->time_us = time_us;
}

/* How many moments from here on have the same value, at most `most`. */
static size_t moments_alike(const struct roast_series_cursor *cursor, size_t most)
{
    if (cursor->next_change <= cursor->tick) /* there is none behind it */
        return most;
    uint64_t alike = cursor->next_change - cursor->tick;
    return alike < most ? (size_t)alike : most;
}

size_t roast__series_block(struct roast_series_cursor *cursor, int64_t *times_ns,
                           double *values)
{
    uint64_t left = cursor->ticks - cursor->tick;
    size_t count = left < ROAST_SERIES_BLOCK ? (size_t)left : ROAST_SERIES_BLOCK;

    if (times_ns)
        read_times(cursor, times_ns, count);
    for (size_t i = 0; i < count;) {
        if (cursor->tick == cursor->next_change) {
            cursor->value = cursor->next_value;
            cursor->known = cursor->next_known;
            read_change(cursor, cursor->tick);
        }
        double value = cursor->known ? (double)cursor->value / cursor->steps : NAN;
        size_t end = i + moments_alike(cursor, count - i);
        cursor->tick += end - i;
        while (i < end)
            values[i++] = value;
    }
    return count;
}
