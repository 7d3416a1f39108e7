/* SPDX-License-Identifier: BSD-3-Clause */
/* patient_chunks.h - the chunks of a patient: task, record and ladder of each. */
#ifndef ROAST_TESTS_ANALYZE_PATIENT_CHUNKS_H
#define ROAST_TESTS_ANALYZE_PATIENT_CHUNKS_H

#include <stdio.h>

#include "patient_sizes.h"

static inline const char *worker_named(int worker)
{
    static char names[64][32];

    (void)snprintf(names[worker], sizeof(names[0]), "tcp://10.0.0.%d:1", worker + 1);
    return names[worker];
}

/* One chunk as a task, its record and its ladder; when it ended. */
static inline double add_patient_chunk(roast_run *run, const struct patient *p, int i,
                                       struct roast_str ladder, double start,
                                       double seconds)
{
    int per_file = (int)or_else(p->per_file, 20);
    int worker = i % (int)or_else(p->workers, 2);
    uint64_t events = events_of_chunk(p, i);
    uint64_t first = (uint64_t)(i % per_file) * events_of_chunk(p, 1);
    uint64_t grown = p->grows_mb * (uint64_t)(i / (int)or_else(p->workers, 2));
    uint32_t key = (uint32_t)i + 1;
    char file[32];
    struct frame chunk = {.process = (uint64_t)worker + 1,
                          .sequence = key,
                          .dataset = p->apart        ? file
                                     : is_last(p, i) ? p->last_dataset
                                                     : NULL,
                          .file = file,
                          .first = first,
                          .stop = first + events,
                          .events = events,
                          .start = start,
                          .duration = seconds - or_else(p->form, 0.05),
                          .cpu = (seconds - or_else(p->form, 0.05)) / 2,
                          .monitor = p->monitor,
                          .before_mb = 500 + grown,
                          .after_mb = 500 + grown,
                          .peak_mb = 500 + grown + memory_of_chunk(p, i),
                          .host = "red-c1",
                          .branches = p->branches,
                          .endpoints = p->endpoints,
                          .file_facts = p->facts};
    struct frame end = {.kind = ROAST_FRAME_END,
                        .process = (uint64_t)worker + 1,
                        .sequence = key,
                        .task_start = start,
                        .task = seconds,
                        .task_cpu =
                            seconds - p->runqueue - p->blocked - p->gil - p->fetch,
                        .output_bytes = p->gives_mb << 20,
                        .ladder = ladder};
    const struct roast_task task = {.prefix = roast_str_of("Processor"),
                                    .worker = roast_str_of(worker_named(worker)),
                                    .key_hash = key,
                                    .ours = true,
                                    .end = ROAST_TASK_ok,
                                    .assigned_ns = at(start - p->gap),
                                    .start_ns = at(start),
                                    .stop_ns = at(start + seconds)};

    (void)snprintf(file, sizeof(file), "f%d.root", i / per_file);
    add_frame_of_task(run, chunk, worker_named(worker), key);
    add_frame_of_task(run, end, worker_named(worker), key);
    assert_int_equal(roast_run_add_task(run, &task, NULL), ROAST_OK);
    return start + seconds;
}

#endif
