/* SPDX-License-Identifier: BSD-3-Clause */
/* frame.h - one frame of an attempt in the words of a test.
 *
 * Seconds count from the start of the run. Zero is absent, except where said. */
#ifndef ROAST_TESTS_ANALYZE_FRAME_H
#define ROAST_TESTS_ANALYZE_FRAME_H

#include "roast/record.h"
#include "support.h"

#define RUN_EPOCH_NS INT64_C(1700000000000000000)
#define NS(seconds) ((int64_t)((seconds)*1e9))

struct frame {
    enum roast_frame_kind kind; /* 0: chunk */
    uint64_t process;           /* 0: 1 */
    uint32_t sequence;          /* 0: a new one */
    const char *dataset;        /* NULL: "ttbar" */
    const char *file;           /* NULL: "a.root"; "": none */
    const char *tree;           /* NULL: "Events"; "": none */
    const char *uuid;           /* of the file */
    uint64_t first, stop;       /* entries */
    uint64_t status;            /* 0: ok */
    double start, duration;
    double cpu;
    double task_start, task, task_cpu;
    double process_cpu; /* of all threads in the attempt */
    uint64_t output_bytes;
    uint64_t events;
    uint64_t concurrency; /* chunks of its process at once */
    uint64_t before_mb, after_mb, peak_mb;
    bool bytes_known;
    uint64_t bytes, bytes_before;
    const char *host; /* NULL: "here" */
    uint64_t pid;     /* 0: 100 + process */
    const char *worker;
    const char *error_type, *error_message, *error_section;
    struct roast_str sections, losses, absences;
    bool undecorated, first_chunk;
    struct roast_str branches, endpoints, file_facts, file_branches;
    struct roast_str process_facts; /* with the first chunk of a process */
    struct roast_str ladder;        /* of an end frame */
    double monitor;
    uint64_t monitor_errors;
};

static inline void set_text(roast_record *rec, enum roast_field field, const char *text,
                            const char *otherwise)
{
    text = text ? text : otherwise;
    if (text && text[0])
        roast_record_set_str(rec, field, roast_str_of(text));
}

static inline void set_count(roast_record *rec, enum roast_field field, uint64_t count)
{
    if (count > 0)
        roast_record_set_u64(rec, field, count);
}

static inline void set_seconds(roast_record *rec, enum roast_field field,
                               double seconds)
{
    if (seconds > 0)
        roast_record_set_u64(rec, field, (uint64_t)NS(seconds));
}

#endif
