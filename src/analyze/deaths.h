/* SPDX-License-Identifier: BSD-3-Clause */
/* deaths.h - processes of a pool that died, from the notes of the client. */
#ifndef ROAST_ANALYZE_DEATHS_H
#define ROAST_ANALYZE_DEATHS_H

#include "run/run.h"

struct roast_death {
    uint64_t pid;
    bool code_known;
    int64_t code; /* -N: by signal N */
    int64_t time_ns;
};

/* The death in a note; false: another note, or a damaged one. */
bool roast__death_read(struct roast_death *death, const struct roast_note *note);

/* Pools are on the client's host: a process of another one may have the same pid. */
bool roast__death_is_of(const struct roast_death *death, const struct roast_run *run,
                        const struct roast_worker_process *process);

/* The death of a process; false: not noted. */
bool roast__death_find(struct roast_death *death, const struct roast_run *run,
                       const struct roast_worker_process *process);

#endif
