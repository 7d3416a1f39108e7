/* SPDX-License-Identifier: BSD-3-Clause */
/* run_print_samples.h - samples and records of a run as bytes. */
#ifndef ROAST_TESTS_FILE_RUN_PRINT_SAMPLES_H
#define ROAST_TESTS_FILE_RUN_PRINT_SAMPLES_H

#include "run_print_facts.h"

/* As they are packed. */
static inline void print_samples(struct roast_buf *out, const roast_run *run)
{
    for (size_t i = 0; i < run->samples.count; i++) {
        const struct roast_worker_samples *worker = &run->samples.workers[i];
        const uint64_t numbers[] = {worker->ticks,
                                    worker->stride,
                                    worker->skipped,
                                    worker->pid,
                                    worker->parent_pid,
                                    worker->started_ticks,
                                    worker->last_cpu_ns,
                                    worker->last_read_bytes,
                                    worker->last_write_bytes,
                                    (uint64_t)worker->last_use_ns};
        print_text(out, roast__strings_get(&run->strings, worker->name));
        roast__buf_put(out, numbers, sizeof(numbers));
        print_text(out, buf_str(&worker->times));
        for (int k = 0; k < ROAST_SERIES_COUNT; k++)
            print_text(
                out, buf_str(&roast__series_of(worker, (enum roast_series)k)->changes));
    }
}

static inline void print_tracking(struct roast_buf *out, roast_run *run)
{
    struct roast_tracking tracking;

    assert_int_equal(roast_run_tracking(run, &tracking, NULL), ROAST_OK);
    for (size_t i = 0; i < tracking.count; i++) {
        const struct roast_timeline *line = &tracking.lines[i];
        print_text(out, roast_str_of(line->worker));
        roast__buf_put_varint(out, line->series);
        roast__buf_put(out, line->points, line->count * sizeof(*line->points));
    }
    roast_tracking_release(&tracking);
}

static inline void print_chunks(struct roast_buf *out, roast_run *run)
{
    struct roast_chunk_list list;

    assert_int_equal(roast_run_chunks(run, &list, NULL), ROAST_OK);
    for (size_t i = 0; i < list.count; i++) {
        print_text(out, str_from(list.frames + list.items[i].offset,
                                 list.items[i].size_bytes));
        roast__buf_put_varint(out, list.items[i].chunk_id);
        roast__buf_put_varint(out, list.items[i].attempt);
    }
    roast_chunk_list_release(&list);
    roast__buf_put_varint(out, run->attempts.count);
    roast__buf_put(out, run->attempts.status, run->attempts.count);
    for (size_t i = 0; i < run->attempts.count; i++) { /* begun: only if nothing else */
        unsigned char parts = run->attempts.parts[i];
        parts &= parts == ROAST_PART_BEGIN ? 0xff : (unsigned char)~ROAST_PART_BEGIN;
        roast__buf_put(out, &parts, 1);
    }
}

#endif
