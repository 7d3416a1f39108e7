/* SPDX-License-Identifier: BSD-3-Clause */
/* processes.h - the processes that ran attempts, each once per run id.
 *
 * A process that served two runs which both belong here has two entries with the same
 * `id` and the same facts. One that is several workers of a cluster has an entry for
 * each of them: attempts are found by the first one, and all share its clock. */
#ifndef ROAST_RUN_PROCESSES_H
#define ROAST_RUN_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct roast_worker_process {
    uint64_t id;    /* random id of the frames; 0: records made by hand */
    int32_t run;    /* number of a string: the 16 bytes of the run id */
    int32_t host;   /* number of a string, or ROAST_NO_STRING */
    int32_t worker; /* its name, where the executor has one; else ROAST_NO_STRING */
    int32_t process_entry; /* of the process: this one, or that of its first worker */
    bool shares_clock;     /* with the client: its monotonic clock is the client's */
    uint64_t pid;          /* 0: not known */
    uint64_t cpu_ns; /* of the whole process, from its last end frame; 0: unknown */
    /* Between the timeline without offset and its monotonic clock, from its first
     * record; cold_fields.c keeps times small with it. */
    int64_t timeline_minus_mono_ns;
    bool mono_known;
    int64_t
        offset_ns;   /* of its host's clock, included in its rows (worker_sessions.c) */
    int64_t move_ns; /* 0 except while rows are moved to another offset */
};

/* The process of an identity, added when it is new; -1 when out of memory. */
struct roast_attempts;
int32_t roast__processes_get(struct roast_attempts *attempts, int32_t run, uint64_t id);

/* The entry of one worker of a process, which is its first one if that has no name yet;
 * -1 when out of memory. */
int32_t roast__processes_worker(struct roast_attempts *attempts, int32_t process,
                                int32_t worker);

/* Copies the facts of each process to all its entries. */
void roast__processes_share(struct roast_attempts *attempts);

/* The one process of all records without an identity; -1 when out of memory. */
int32_t roast__processes_handmade(struct roast_attempts *attempts);

#endif
