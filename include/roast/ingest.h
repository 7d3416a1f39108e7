/* SPDX-License-Identifier: BSD-3-Clause */
/* ingest.h - facts that others left for us: the spool of the local workers.
 *
 * A worker process appends frames to <dir>/<process id, 16 hex digits>.frames, one or
 * several with each write(2), and what it wrote outlives it. The client reads what was
 * appended, as often as it likes, and removes the spool at the end.
 *
 * Only regular files with such a name (digits in lower case) are read. Symbolic links
 * are not followed, and whatever else lies in the directory is left alone. */
#ifndef ROAST_INGEST_H
#define ROAST_INGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "roast/error.h"
#include "roast/text.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ROAST_SPOOL_PIECE_BYTES = 1024 * 1024, /* read at once */
    ROAST_SPOOL_MAX_FILES = 65536,         /* the rest counts as unreadable */
};

/* Where frames go. They are borrowed for the call; each call has either whole frames or
 * bytes that are none, never both. A negative status ends the reading and comes back
 * from it; the same frames are given again by the next one. */
struct roast_frames_sink {
    int (*frames)(void *context, struct roast_str frames);
    void *context;
};

/* For one thread at a time. It keeps positions and no file open. */
typedef struct roast_spool roast_spool;

/* Returns owned; copies dir. IO unless it is a directory, and not a link to one. */
int roast_spool_open(roast_spool **out, const char *dir, roast_error *err);

/* Gives everything that was appended since the last call. A frame that has not yet been
 * written to its end waits there for the rest, unless a whole one follows: then it was
 * cut, and is given as bytes that are none. A file that became shorter is read again
 * from its start. Fails with what the sink said, with IO when the directory cannot be
 * read, or NO_MEMORY; nothing is lost by any of them. */
int roast_spool_read(roast_spool *spool, const struct roast_frames_sink *sink,
                     roast_error *err);

struct roast_spool_state {
    uint64_t files;         /* that have been seen */
    uint64_t bytes;         /* that the sink has taken */
    uint64_t unreadable;    /* files that could not be read, at some time */
    uint64_t waiting_files; /* with a frame without an end, */
    uint64_t waiting_bytes; /* of so many bytes; lost, if nobody writes on */
};

struct roast_spool_state roast_spool_state(const roast_spool *spool);

/* Frees the spool; `remove` also removes its files, as roast_spool_remove() does. */
void roast_spool_close(roast_spool *spool, bool remove);

/* Removes the files of a spool, read or not, and its directory if nothing else is in
 * it. For cleaning up after a crash. OK when the directory is gone then, else IO. */
int roast_spool_remove(const char *dir);

#ifdef __cplusplus
}
#endif

#endif
