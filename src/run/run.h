/* SPDX-License-Identifier: BSD-3-Clause */
/* run.h - the private members of a roast_run, for this folder, analyze and file.
 *
 * The lock is held while it is read or changed; a change is written to the journal
 * (journal/write.h). Code that reads attempts calls roast__run_resolve_pending()
 * first. */
#ifndef ROAST_RUN_RUN_H
#define ROAST_RUN_RUN_H

#include <pthread.h>

#include "roast/run.h"
#include "run/attempts.h"
#include "run/cold_fields.h"
#include "run/notes.h"
#include "run/scheduler_view.h"
#include "run/series.h"

/* Limit of packed records; above it branch tables are dropped (merge.c). */
enum { ROAST_BUDGET_BYTES = 256 * 1024 * 1024 };

/* What happens at a time of the timeline. */
struct roast_offer {
    int64_t time_ns;
    uint64_t workers;
    uint64_t threads;
};

struct roast_moment {
    enum roast_mark mark;
    int64_t time_ns;
};

struct roast_count {
    int64_t time_ns;
    uint64_t workers;
};

struct roast_run {
    pthread_mutex_t lock;
    struct roast_journal *journal; /* borrowed; NULL: none is attached */
    int64_t start_ns;              /* timeline */
    int64_t end_ns;                /* 0: still open */
    int64_t epoch_minus_mono_ns;
    int32_t host; /* number of a string, or ROAST_NO_STRING */
    size_t budget_bytes;

    unsigned char (*accepted)[ROAST_RUN_ID_BYTES]; /* owned */
    size_t accepted_count;
    size_t accepted_cap;

    struct roast_string_table strings;
    struct roast_names names; /* for ids of begin frames */
    struct roast_attempts attempts;
    struct roast_samples samples;
    struct roast_samples client_samples; /* with the series client_memory alone */
    struct roast_samples gpu_samples;    /* of GPUs, and of processes that use them */
    struct roast_offer
        *offers; /* owned, by time; of equal times the last one is valid */
    size_t offer_count;
    size_t offer_cap;
    struct roast_moment *moments; /* owned, by time */
    size_t moment_count;
    size_t moment_cap;
    struct roast_count *counts; /* owned, by time; only where a backend gives them */
    size_t count_count;
    size_t count_cap;

    struct roast_scheduler_view scheduler;
    struct roast_notes notes;
    double facts[ROAST_FACT_COUNT];
    bool fact_known[ROAST_FACT_COUNT];
    uint64_t losses[ROAST_RUN_LOSS_COUNT];
    char first_error[128]; /* of the monitor in a worker; NUL-terminated */
};

void roast__run_lock(struct roast_run *run);
void roast__run_unlock(struct roast_run *run);

/* Applies what arrived after the attempts it concerns: names of sources, clock offsets,
 * facts of processes. The lock is held. */
void roast__run_resolve_pending(struct roast_run *run);

/* Where samples with these series (bit n: series n) belong. */
struct roast_samples *roast__run_samples(struct roast_run *run, uint32_t series);

/* Counts a loss; the lock is held. */
void roast__run_lose(struct roast_run *run, enum roast_run_loss loss, uint64_t count);

/* The offer that is valid at a time; before the first one, the first; NULL: none. */
const struct roast_offer *roast__run_offer_at(const struct roast_run *run,
                                              int64_t time_ns);

#endif
