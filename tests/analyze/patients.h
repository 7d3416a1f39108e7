/* SPDX-License-Identifier: BSD-3-Clause */
/* patients.h - makes runs of patients, finished and ready to be looked at. */
#ifndef ROAST_TESTS_ANALYZE_PATIENTS_H
#define ROAST_TESTS_ANALYZE_PATIENTS_H

#include "patient_chunks.h"

static inline void admit(roast_run *run, const struct patient *p, int worker)
{
    const struct roast_member member = {
        .worker = roast_str_of(worker_named(worker)),
        .host = roast_str_of("red-c1"),
        .joined_ns = at(worker > 0 ? p->joined : 0),
        .threads = (uint64_t)or_else(p->threads, 2),
        .memory_limit_bytes = p->limit,
    };
    assert_int_equal(roast_run_add_member(run, &member, NULL), ROAST_OK);
}

/* Chunks go round over all threads; the last one comes when all others are done. */
static inline double add_patient_chunks(roast_run *run, const struct patient *p)
{
    int chunks = (int)or_else(p->chunks, 40);
    int threads = (int)(or_else(p->workers, 2) * or_else(p->threads, 2));
    struct roast_ladder ladder = ladder_of(p, or_else(p->compute, 1));
    struct roast_ladder longer = ladder_of(p, or_else(p->last, 1));
    struct roast_ladder first = ladder;
    set_part(&first, ROAST_ITEM_import, p->unpack + p->import);
    struct roast_str usual = ladder_blob(&ladder);
    struct roast_str importing = p->import > 0 ? ladder_blob(&first) : usual;
    double seconds = seconds_of(&ladder), ends = 0;

    for (int i = 0; i < chunks; i++) {
        bool other = p->last > 0 && is_last(p, i);
        int wave = i / threads;
        double start =
            or_else(p->begin, 0.1) + wave * (seconds + p->gap + p->starved) + p->gap;
        if (wave > 0)
            start += p->import;
        double end = add_patient_chunk(run, p, i,
                                       other       ? ladder_blob(&longer)
                                       : wave == 0 ? importing
                                                   : usual,
                                       start,
                                       other       ? seconds_of(&longer)
                                       : wave == 0 ? seconds + p->import
                                                   : seconds);
        ends = end > ends ? end : ends;
    }
    return ends;
}

/* A finished run; *seconds (NULL allowed) is how long it took. */
static inline roast_run *patient_new(struct patient p, double *seconds)
{
    int workers = (int)or_else(p.workers, 2);
    roast_run *run = run_new();

    for (int worker = 0; worker < workers; worker++)
        admit(run, &p, worker);
    double end = add_patient_chunks(run, &p);
    if (p.merge > 0)
        add_task(run, "reduce", worker_named(0), 100000, ROAST_TASK_ok, end,
                 end + p.merge);
    end += p.merge;
    for (int worker = 0; p.foreign > 0 && worker < workers; worker++)
        add_task(run, "somebody", worker_named(worker), 0, ROAST_TASK_ok, end,
                 end + p.foreign);
    end += p.foreign + p.after;
    roast_run_finish(run, NS(end));
    if (seconds)
        *seconds = end;
    return run;
}

#endif
