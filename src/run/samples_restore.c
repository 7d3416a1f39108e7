/* SPDX-License-Identifier: BSD-3-Clause */
/* samples_restore.c - packed series of a worker that come from a file: are they whole?
 *
 * The form is described in samples.c. Whoever reads series multiplies times by 1000, and
 * believes that every entry of a series is at a moment that there is. */
#include "run/array.h"
#include "run/restore.h"

static const int64_t latest_us = INT64_MAX / 1000;

static bool restore_times(struct roast_worker_samples *worker)
{
    struct roast_cursor cur =
        roast__cursor(worker->times.data, worker->times.size_bytes);

    worker->ticks = 0;
    worker->last_time_us = 0;
    worker->last_step_us = 0;
    while (roast__cursor_left(&cur) > 0) {
        worker->last_step_us =
            roast__wrap_add(worker->last_step_us, roast__cursor_signed(&cur));
        worker->last_time_us =
            roast__wrap_add(worker->last_time_us, worker->last_step_us);
        if (++worker->ticks > UINT32_MAX || worker->last_time_us > latest_us ||
            worker->last_time_us < -latest_us)
            return false;
    }
    return !cur.failed;
}

static bool restore_series(struct roast_packed_series *series, uint64_t ticks)
{
    struct roast_cursor cur =
        roast__cursor(series->changes.data, series->changes.size_bytes);

    series->last_tick = 0;
    series->last = 0;
    series->known = false;
    for (bool first = true; roast__cursor_left(&cur) > 0; first = false) {
        uint64_t head = roast__cursor_varint(&cur);
        uint64_t later = head >> 1;
        if (later >= ticks - series->last_tick || (later == 0 && !first))
            return false;
        series->last_tick += (uint32_t)later;
        series->known = head & 1;
        if (series->known)
            series->last = roast__wrap_add(series->last, roast__cursor_signed(&cur));
    }
    return !cur.failed;
}

bool roast__samples_restore(struct roast_worker_samples *worker)
{
    if (!restore_times(worker))
        return false;
    for (int i = 0; i < __builtin_popcount(worker->has); i++) {
        if (!restore_series(&worker->series[i], worker->ticks))
            return false;
    }
    return true;
}
