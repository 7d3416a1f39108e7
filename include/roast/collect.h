/* SPDX-License-Identifier: BSD-3-Clause */
/* collect.h - facts of other processes, into a run.
 *
 * A source adds new data to a run each time it is polled. The sampler is a thread that
 * polls the sources of a run until it is stopped. */
#ifndef ROAST_COLLECT_H
#define ROAST_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "roast/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sources ---------------------------------------------------------------------- */

/* One kind of source. `open` makes its state for a run (borrowed until `close`) and a
 * path; UNAVAILABLE where this system does not support it. `poll` adds new data to the
 * run. `close` counts in the run what was lost, and frees the state. A state is used by
 * one thread at a time. */
struct roast_source {
    int (*open)(void **state, roast_run *run, const char *place, roast_error *err);
    int (*poll)(void *state, roast_error *err);
    void (*close)(void *state);
};

#define S(name, text) extern const struct roast_source roast_##name##_source;
#include "roast/collect_sources.def"
#undef S

/* The source of this name in collect_sources.def; NULL: there is none. */
const struct roast_source *roast_source_find(const char *name);

/* ---- the sampler ------------------------------------------------------------------ */

/* Only one thread may call these functions. A forked child has no sampler thread and
 * must not use the sampler. */
typedef struct roast_sampler roast_sampler;

enum { ROAST_SAMPLER_MAX_SOURCES = 8 };

/* Starts the thread. Returns owned; borrows the run until it is stopped. A poll that
 * fails is counted in the run as a monitor error. */
int roast_sampler_start(roast_sampler **out, roast_run *run, roast_error *err);

/* Polls a source from now on, first after delay_s seconds; the interval is at least 10 ms.
 * Fails as its open does, and with LIMIT when there are too many. */
struct roast_polling {
    const char *place;
    double delay_s;
    double interval_s;
};

int roast_sampler_add(roast_sampler *sampler, const struct roast_source *source,
                      const struct roast_polling *polling, roast_error *err);

/* Polls the sources of this kind now. */
void roast_sampler_poll(roast_sampler *sampler, const struct roast_source *source);

/* Ends the thread, polls and closes every source, and frees the sampler. */
void roast_sampler_stop(roast_sampler *sampler);

/* ---- the spool reader --------------------------------------------------------------
 *
 * A worker process appends frames to <dir>/<process id, 16 hex digits>.frames, one or
 * several with each write(2), and what it wrote outlives it. The client reads what was
 * appended at any time, and removes the spool at the end.
 *
 * Only regular files with such a name (digits in lower case) are read. Symbolic links
 * are not followed, and other files in the directory are left alone. */

enum {
    ROAST_SPOOL_PIECE_BYTES = 1024 * 1024, /* read at once */
    ROAST_SPOOL_MAX_FILES = 65536,         /* further ones are unreadable */
};

/* Receives frames. They are borrowed for the call; each call has either whole frames or
 * damaged bytes, never both. A negative status ends the reading and is returned from
 * it; the same frames are given again by the next one. */
struct roast_frames_sink {
    int (*frames)(void *context, struct roast_str frames);
    void *context;
};

/* For one thread at a time. It keeps positions and no file open. */
typedef struct roast_spool roast_spool;

/* Returns owned; copies dir. IO unless it is a directory, and not a link to one. */
int roast_spool_open(roast_spool **out, const char *dir, roast_error *err);

/* Passes everything that was appended since the last call to the sink. An incomplete
 * frame at the end of a file is kept for the next call, unless a whole frame follows
 * it: then it was cut, and is passed as damaged bytes. A file that became shorter is
 * read again from its start. Fails with the status of the sink, with IO when the
 * directory cannot be read, or NO_MEMORY; no data is lost by a failure. */
int roast_spool_read(roast_spool *spool, const struct roast_frames_sink *sink,
                     roast_error *err);

struct roast_spool_state {
    uint64_t files;      /* seen so far */
    uint64_t bytes;      /* that the sink has accepted */
    uint64_t unreadable; /* files with at least one failed read */
    uint64_t
        waiting_files; /* with an incomplete frame at the end, or not in the list */
    uint64_t waiting_bytes; /* size of these frames */
};

struct roast_spool_state roast_spool_state(const roast_spool *spool);

/* Frees the spool; `remove` also removes its files, as roast_spool_remove() does. */
void roast_spool_close(roast_spool *spool, bool remove);

/* Removes the files of a spool, read or not, and its directory if nothing else is in
 * it. For cleaning up after a crash. OK when the directory does not exist afterwards,
 * else IO. */
int roast_spool_remove(const char *dir);

#ifdef __cplusplus
}
#endif

#endif
