/* SPDX-License-Identifier: BSD-3-Clause */
/* series.c - reads the moments of a worker and one of its series, in order.
 *
 * The packed form is described in samples.c. Sums wrap like the differences did. */
#include "run/series.h"

#include <math.h>

#include "base/array.h"
#include "base/varint.h"

/* As roast__cursor_varint(), but inline: the loops below use registers only. */
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

/* Bits that are 0 where a varint ends: in 8 bytes, and in those after the first. */
static const uint64_t TIME_ENDS = UINT64_C(0x8080808080808080);
static const uint64_t CHANGE_ENDS = UINT64_C(0x8080808080808000);

/* Whether 8 bytes begin with an entry of a series that changes at every moment: "one
 * moment later, known" in one byte and the change in up to 7. `last` has the bits of
 * its possible ends. */
static inline bool is_dense(uint64_t word, uint64_t last)
{
    const uint64_t next_and_known = 1 << 1 | 1;

    return (word & 0xff) == next_and_known && last != 0;
}

/* Reads such an entry, both parts at once; false: it has another form. */
static inline bool read_dense_change(struct roast_series_cursor *cursor,
                                     uint64_t last_tick)
{
    struct roast_cursor *cur = &cursor->changes;

    if (roast__cursor_remaining(cur) < 8)
        return false;
    uint64_t word = roast__load_fixed(cur->at, 8);
    uint64_t last = ~word & CHANGE_ENDS;
    if (!is_dense(word, last))
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
    if (read_dense_change(cursor, last_tick))
        return;
    if (roast__cursor_remaining(&cursor->changes) == 0) {
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
    if (cursor->next_change <= cursor->tick) /* it was the last one */
        return most;
    uint64_t alike = cursor->next_change - cursor->tick;
    return alike < most ? (size_t)alike : most;
}

uint64_t roast__series_run(struct roast_series_cursor *cursor, double *value)
{
    uint64_t left = cursor->ticks - cursor->tick;

    if (left > 0 && cursor->tick == cursor->next_change)
        take_change(cursor);
    *value = cursor->known ? (double)cursor->value / cursor->steps : NAN;
    uint64_t alike = moments_alike(cursor, (size_t)left);
    cursor->tick += alike;
    return alike;
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

/* Values of a series that changes at every moment, while 8 bytes can be loaded at
 * once. */
struct dense_values {
    const unsigned char *at;
    const unsigned char *stop; /* one past the last position with 8 bytes to load */
    int64_t value;             /* at this moment */
    int64_t next;              /* and at the next one */
};

/* Advances by one moment; false: the next entry is of another form. */
static inline bool next_value(struct dense_values *dense)
{
    if (dense->at >= dense->stop)
        return false;
    uint64_t word = roast__load_fixed(dense->at, 8);
    uint64_t last = ~word & CHANGE_ENDS;
    if (!is_dense(word, last))
        return false;
    uint64_t change = roast__join_sevens((word & (last ^ (last - 1))) >> 8);
    dense->at += (unsigned)__builtin_ctzll(last) / 8 + 1;
    dense->value = dense->next;
    dense->next = roast__wrap_add(dense->next, roast__unzigzag(change));
    return true;
}

static inline const unsigned char *stop_of(const struct roast_cursor *cur)
{
    return roast__cursor_remaining(cur) >= 8 ? cur->end - 7 : cur->at;
}

/* Reads moments of a series that changes at every one; returns how many. The processor
 * waits for the end of each number, so times are read in the same loop. Eight zeros are
 * eight moments at the same distance. */
static inline size_t read_dense_moments(struct roast_series_cursor *cursor,
                                        int64_t *times_ns, double *values, size_t count)
{
    struct dense_values dense = {cursor->changes.at, stop_of(&cursor->changes),
                                 cursor->value, cursor->next_value};
    const unsigned char *times = cursor->times.at, *stop = stop_of(&cursor->times);
    int64_t step_us = cursor->step_us, time_us = cursor->time_us;
    size_t i = 0;

    for (bool more = true; more && i < count && times < stop;) {
        uint64_t word = roast__load_fixed(times, 8);
        uint64_t last = ~word & TIME_ENDS;
        size_t size_bytes = 1, alike = word == 0 ? 8 : 1;
        int64_t further_us = 0;
        if (last == 0)
            break;
        if ((word & 0xff) != 0) {
            size_bytes = (size_t)__builtin_ctzll(last) / 8 + 1;
            further_us =
                roast__unzigzag(roast__join_sevens(word & (last ^ (last - 1))));
        }
        for (size_t end = i + alike < count ? i + alike : count; i < end; i++) {
            more = next_value(&dense);
            if (!more)
                break;
            step_us = roast__wrap_add(step_us, further_us);
            time_us = roast__wrap_add(time_us, step_us);
            times += size_bytes;
            times_ns[i] = time_us * 1000; /* it was a number of ns before */
            values[i] = (double)dense.value;
        }
    }
    cursor->times.at = times;
    cursor->changes.at = dense.at;
    cursor->step_us = step_us;
    cursor->time_us = time_us;
    cursor->value = dense.value;
    cursor->next_value = dense.next;
    return i;
}

/* The same with times. */
static inline void read_moments(struct roast_series_cursor *cursor, int64_t *times_ns,
                                double *values, size_t count)
{
    for (size_t i = 0; i < count;) {
        if (cursor->tick == cursor->next_change && cursor->next_known) {
            size_t read =
                read_dense_moments(cursor, times_ns + i, values + i, count - i);
            cursor->known |= read > 0;
            cursor->tick += read;
            cursor->next_change = cursor->tick; /* it changes at every moment */
            i += read;
            if (i == count)
                return;
        }
        if (cursor->tick == cursor->next_change)
            take_change(cursor);
        values[i] = cursor->known ? (double)cursor->value : NAN;
        times_ns[i++] = read_time_us(cursor) * 1000; /* it was a number of ns before */
        cursor->tick++;
    }
}

size_t roast__series_block(struct roast_series_cursor *cursor, int64_t *times_ns,
                           double *values)
{
    struct roast_series_cursor at = *cursor; /* a local copy is kept in registers */
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
