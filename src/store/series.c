/* SPDX-License-Identifier: BSD-3-Clause */
/* series.c - reads the moments of a worker and one of its series, in order.
 *
 * The packed form is described in samples.c. Sums wrap like the differences did. */
#include "store/series.h"

#include <math.h>

#include "base/varint.h"
#include "store/array.h"

/* As roast__cursor_varint(), but in place: the loops below stay in registers. */
static inline uint64_t read_varint(struct roast_cursor *cur)
{
    uint64_t value;

    if (roast__load_varint(&cur->at, cur->end, &value))
        return value;
    cur->failed = true;
    return 0;
}

static inline int64_t read_signed(struct roast_cursor *cur)
{
    return roast__unzigzag(read_varint(cur));
}

/* Reads an entry of what never rests, "a moment later, known" in one byte and the change
 * in up to 7: both at once. False: it is another one. */
static inline bool read_restless(struct roast_series_cursor *cursor, uint64_t last_tick)
{
    const uint64_t next_and_known = 1 << 1 | 1;
    struct roast_cursor *cur = &cursor->changes;

    if (roast__cursor_left(cur) < 8)
        return false;
    uint64_t word = roast__load_fixed(cur->at, 8);
    uint64_t last = ~word & UINT64_C(0x8080808080808000);
    if ((word & 0xff) != next_and_known || last == 0)
        return false;
    uint64_t change = roast__join_sevens((word & (last ^ (last - 1))) >> 8);
    cur->at += (unsigned)__builtin_ctzll(last) / 8 + 1;
    cursor->next_change = last_tick + 1;
    cursor->next_known = true;
    cursor->next_value = roast__wrap_add(cursor->next_value, roast__unzigzag(change));
    return true;
}

static inline void read_change(struct roast_series_cursor *cursor, uint64_t last_tick)
{
    if (read_restless(cursor, last_tick))
        return;
    if (roast__cursor_left(&cursor->changes) == 0) {
        cursor->next_change = UINT64_MAX;
        return;
    }
    uint64_t head = read_varint(&cursor->changes);
    cursor->next_change = last_tick + (head >> 1);
    cursor->next_known = head & 1;
    if (cursor->next_known)
        cursor->next_value =
            roast__wrap_add(cursor->next_value, read_signed(&cursor->changes));
}

static inline void take_change(struct roast_series_cursor *cursor)
{
    cursor->value = cursor->next_value;
    cursor->known = cursor->next_known;
    read_change(cursor, cursor->tick);
}

static inline int64_t read_time_us(struct roast_series_cursor *cursor)
{
    cursor->step_us = roast__wrap_add(cursor->step_us, read_signed(&cursor->times));
    cursor->time_us = roast__wrap_add(cursor->time_us, cursor->step_us);
    return cursor->time_us;
}

const struct roast_packed_series *roast__series_of(
    const struct roast_worker_samples *worker, enum roast_series series)
{
    static const struct roast_packed_series none;
    uint32_t bit = UINT32_C(1) << series;

    if (!(worker->has & bit))
        return &none;
    return &worker->series[__builtin_popcount(worker->has & (bit - 1))];
}

void roast__series_open(struct roast_series_cursor *cursor,
                        const struct roast_worker_samples *worker,
                        enum roast_series series)
{
    const struct roast_buf *times = &worker->times;
    const struct roast_buf *changes = &roast__series_of(worker, series)->changes;

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
    (void)read_time_us(cursor);
    if (cursor->tick == cursor->next_change)
        take_change(cursor);
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

/* ---- blocks ---------------------------------------------------------------------- */

/* How many moments from here on have the same value, at most `most`. */
static inline size_t moments_alike(const struct roast_series_cursor *cursor,
                                   size_t most)
{
    if (cursor->next_change <= cursor->tick) /* there is none behind it */
        return most;
    uint64_t alike = cursor->next_change - cursor->tick;
    return alike < most ? (size_t)alike : most;
}

/* Values are in steps. */
static inline void read_values(struct roast_series_cursor *cursor, double *values,
                               size_t count)
{
    for (size_t i = 0; i < count;) {
        if (cursor->tick == cursor->next_change)
            take_change(cursor);
        double value = cursor->known ? (double)cursor->value : NAN;
        size_t end = i + moments_alike(cursor, count - i);
        cursor->tick += end - i;
        while (i < end)
            values[i++] = value;
    }
}

/* The same with times. Finding where a value ends takes the processor longer than all
 * else, so times are read meanwhile, in the same loop. */
static inline void read_moments(struct roast_series_cursor *cursor, int64_t *times_ns,
                                double *values, size_t count)
{
    for (size_t i = 0; i < count; i++, cursor->tick++) {
        if (cursor->tick == cursor->next_change)
            take_change(cursor);
        values[i] = cursor->known ? (double)cursor->value : NAN;
        times_ns[i] = read_time_us(cursor) * 1000; /* it was a number of ns before */
    }
}

size_t roast__series_block(struct roast_series_cursor *cursor, int64_t *times_ns,
                           double *values)
{
    struct roast_series_cursor at = *cursor; /* which nobody else can see */
    uint64_t left = at.ticks - at.tick;
    size_t count = left < ROAST_SERIES_BLOCK ? (size_t)left : ROAST_SERIES_BLOCK;

    if (times_ns)
        read_moments(&at, times_ns, values, count);
    else
        read_values(&at, values, count);
    for (size_t i = 0; at.steps != 1 && i < count; i++)
        values[i] /= at.steps;
    *cursor = at;
    return count;
}
