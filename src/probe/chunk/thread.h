/* SPDX-License-Identifier: BSD-3-Clause */
/* thread.h - the state of one thread that measures.
 *
 * It is in thread-local storage, and in a list for the memory sampler. The thread
 * writes everything but `peak_rss_bytes`, which the sampler raises, and what it knows of
 * the waits of the thread. */
#ifndef ROAST_PROBE_CHUNK_THREAD_H
#define ROAST_PROBE_CHUNK_THREAD_H

#include <stdatomic.h>

#include "probe/chunk/attempt.h"
#include "probe/chunk/names.h"
#include "probe/chunk/readings.h"
#include "probe/chunk/section_tree.h"
#include "probe/linux/procfile.h"
#include "record/values.h"

enum {
    ROAST_CUT_ERROR_BYTES = 512,
    ROAST_CUT_FILE_BYTES = 1024,
    ROAST_CUT_TYPE_BYTES = 128,
};

struct roast_thread {
    struct roast_thread *next; /* registry; guarded by its lock */
    struct roast_thread *prev;
    atomic_bool active;              /* a chunk runs; false in a forked child */
    atomic_bool waits_watched;       /* an attempt runs whose waits are sampled */
    atomic_bool waits_unknown;       /* a sample failed since it began */
    bool sampled;                    /* the memory sampler runs */
    _Atomic uint64_t peak_rss_bytes; /* highest sample since peak_since_ns: ... */
    _Atomic int64_t peak_since_ns;   /* ... chunk or innermost memory section began */
    _Atomic uint64_t gil_wait_ns;    /* sampled since it began */

    struct roast_procfile statm;
    struct roast_slow_files slow_files;
    uint64_t tid;

    /* the chunk */
    roast_record record;
    struct roast_identity identity;
    unsigned char identity_bytes[ROAST_IDENTITY_BYTES];
    int64_t begin_ns; /* entering our code, leaving it ... */
    int64_t start_ns; /* ... and the same around the work */
    int64_t stop_ns;
    int64_t start_cpu_ns;
    struct roast_readings before;
    struct roast_readings after;
    unsigned active_at_begin;
    bool of_attempt;     /* the chunk is inside `attempt`, which counts as running */
    bool claims_attempt; /* the first one there: it has its identity */
    uint64_t absent;     /* bit n set: reasons[n] is why field n is absent */
    unsigned char reasons[ROAST_FIELD_COUNT];
    char file_text[ROAST_CUT_FILE_BYTES];
    char error_text[ROAST_CUT_ERROR_BYTES];
    struct roast_section_tree sections;

    /* kept across chunks */
    struct roast_values user_keys;
    struct roast_values custom_metrics;
    struct roast_values process_facts;
    struct roast_buf blobs;
    struct roast_buf frame;
    unsigned char small_frame[ROAST_END_MAX_BYTES]; /* begin, later end */
    int64_t carried_ns; /* monitor time that the last record could not count */
    int64_t encode_ns;  /* when its monitor_ns was read */
    struct roast_pace pace;
    struct roast_kept_names names;
    struct roast_attempt attempt;
};

/* Sets the record's error message to a copy without secrets. */
void roast__chunk_set_error_message(struct roast_thread *thread, struct roast_str text);

/* Ends all open sections at now_ns and counts each as misused. */
void roast__sections_close(struct roast_thread *thread, int64_t now_ns);

/* Starts the memory sampler unless it runs; it ends a second after the last chunk.
 * False when no thread can be started, which is not tried again in this process. */
bool roast__memory_sampler_start(void);

/* Begins and ends sampling whether the thread of an attempt waits for the GIL; the end
 * adds the time to its ladder, where it is known. */
void roast__gil_watch(struct roast_thread *thread);
void roast__gil_watched(struct roast_thread *thread);

/* Calls visit for every thread's state, holding the registry's lock. */
void roast__threads_visit(void (*visit)(struct roast_thread *, void *context),
                          void *context);

#endif
