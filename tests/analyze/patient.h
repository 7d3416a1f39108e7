/* SPDX-License-Identifier: BSD-3-Clause */
/* patient.h - a run on a cluster whose health is made by hand: how many workers, chunks
 * and events, and what the seconds of a chunk go to. Zero is the healthy value, or as
 * said. */
#ifndef ROAST_TESTS_ANALYZE_PATIENT_H
#define ROAST_TESTS_ANALYZE_PATIENT_H

#include "blobs.h"
#include "cluster.h"

struct patient {
    int workers;                               /* 0: 2 */
    int threads;                               /* of each; 0: 2 */
    int chunks;                                /* 0: 40 */
    int per_file;                              /* chunks; 0: 20 */
    uint64_t events;                           /* of a chunk; 0: 10000 */
    uint64_t limit;                            /* of memory, in bytes; 0: none */
    double form;                               /* seconds of a chunk; 0: 0.05 */
    double compute;                            /* 0: 1 */
    double fetch, decompress, unpack, monitor; /* more of them */
    double bookkeeping;                        /* around the reads */
    double import;                             /* in the first chunk of each thread */
    double runqueue, blocked, gil, gc;         /* inside compute */
    double joined;                             /* all but the first worker */
    double begin;                              /* of the first chunk; 0: 0.1 */
    double gap;        /* from the assignment of a chunk to its start */
    double starved;    /* and before that */
    double merge;      /* after the last chunk, one task */
    double foreign;    /* one task of others on each worker, after that */
    double after;      /* without any task */
    double last;       /* seconds of the last chunks; 0: as all */
    int slow;          /* how many those are; 0: 1 */
    uint64_t grows_mb; /* memory per chunk and process */
    uint64_t gives_mb; /* output of a chunk, packed */
    uint64_t takes_mb; /* above what it finds; 0: 100 */
    double event_kb;   /* and per event */
    int larger;        /* times the events, every other chunk; 0: all are alike */
    bool apart;        /* every file is a dataset */
    const char *last_dataset;
    struct roast_str branches, endpoints, facts;
};

static inline double or_else(double value, double otherwise)
{
    return value > 0 ? value : otherwise;
}

static inline void set_part(struct roast_ladder *ladder, enum roast_ladder_item item,
                            double seconds)
{
    roast_ladder_set(ladder, item, (uint64_t)NS(seconds));
}

static inline struct roast_ladder ladder_of(const struct patient *p, double compute)
{
    struct roast_ladder ladder = {0};

    set_part(&ladder, ROAST_ITEM_import, p->unpack);
    set_part(&ladder, ROAST_ITEM_open, 0);
    set_part(&ladder, ROAST_ITEM_form, or_else(p->form, 0.05));
    set_part(&ladder, ROAST_ITEM_fetch, p->fetch);
    set_part(&ladder, ROAST_ITEM_decompress, p->decompress);
    set_part(&ladder, ROAST_ITEM_read_other, p->bookkeeping);
    set_part(&ladder, ROAST_ITEM_compute, compute);
    set_part(&ladder, ROAST_ITEM_runqueue, p->runqueue);
    set_part(&ladder, ROAST_ITEM_fetch_cpu, 0);
    set_part(&ladder, ROAST_ITEM_gc_cpu, p->gc);
    set_part(&ladder, ROAST_ITEM_gil_wait, p->gil);
    return ladder;
}

static inline double seconds_of(const struct roast_ladder *ladder)
{
    double ns = 0;

    for (int i = 0; i < ROAST_SLICE_COUNT; i++)
        ns += (double)ladder->values[i];
    return ns / 1e9;
}

#endif
