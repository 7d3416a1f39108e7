/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement.h - measurement directories, of ours and of roastcoffea 0.1.2.
 *
 *     metrics.json          metrics, chunk records, samples; see docs/import.md
 *     start_end_time.txt    "t0,t1"
 *     metadata.json         when it was saved, and in which format
 *     worker_tracking.json  samples again; read where metrics.json has none
 *     config.json           what the caller gave
 *
 * What is in them is told to a sink. Files are read in pieces and hold at most one record
 * and all samples in memory: at most 4 times the size of the files + 64 KB. */
#ifndef ROAST_COLLECT_MEASUREMENT_H
#define ROAST_COLLECT_MEASUREMENT_H

#include "roast/error.h"
#include "roast/sample.h"
#include "roast/text.h"

/* Frames come while the directory is read, everything else once it was. All borrow for
 * the call; a negative status ends the reading and comes back from it. */
struct roast_measurement_sink {
    void *context;

    /* One chunk record: its frame, and of ours an end frame behind it. */
    int (*frames)(void *context, struct roast_str frames, roast_error *err);
    /* Another list of records follows, which takes the place of the first. */
    int (*restart)(void *context, roast_error *err);

    /* Begin and end of the block, ns since 1970. */
    int (*span)(void *context, int64_t start_ns, int64_t end_ns, roast_error *err);
    /* The client's host: workers that are called pid-<pid> are processes of it. */
    int (*host)(void *context, struct roast_str host, roast_error *err);
    /* A number of run_facts.def. */
    int (*fact)(void *context, const char *name, double value, roast_error *err);
    /* A worker at one moment; all moments of a worker follow one another, by time. */
    int (*sample)(void *context, const roast_sample *sample, roast_error *err);
    /* How many workers there were at a moment; by time. */
    int (*count)(void *context, int64_t time_ns, uint64_t workers, roast_error *err);
    /* A text of run_note_groups.def. */
    int (*note)(void *context, const char *group, struct roast_str name,
                struct roast_str text, roast_error *err);
    /* Values that found no place, or could not be read. */
    int (*lost)(void *context, uint64_t values, roast_error *err);
};

/* Reads a directory. Errors: IO (no such directory or file, unreadable), BAD_DATA (bad
 * timing, no JSON), LIMIT (nested over 64 deep, a text over 1 MiB), NO_MEMORY. */
int roast__measurement_read(const char *dir, const struct roast_measurement_sink *sink,
                            roast_error *err);

#endif
