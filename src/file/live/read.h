/* SPDX-License-Identifier: BSD-3-Clause */
/* read.h - a live file back into a run. */
#ifndef ROAST_FILE_LIVE_READ_H
#define ROAST_FILE_LIVE_READ_H

#include "roast/runfile.h"

enum { ROAST_LIVE_MAGIC_BYTES = 8 };

/* Whether a file that begins so is a live file. */
bool roast__is_live(const unsigned char first[ROAST_LIVE_MAGIC_BYTES]);

/* What was found while reading. */
struct roast_journal_reading {
    uint64_t blocks;
    uint64_t lost_blocks; /* by their numbers */
    uint64_t damaged;     /* places where bytes were skipped */
    uint64_t gaps;      /* places where bytes were skipped, blocks are lost, or both */
    uint64_t cut_bytes; /* of a live file: at the end, no whole block */
    uint64_t entries;   /* changes of the run that were read */
    uint64_t dropped;   /* changes that were not written, from its entries */
    uint64_t unread;    /* entries of unknown kind or with bad contents */
    uint32_t format;
    char writer[48];
};

/* The places of the file that could not be read, each once: gaps and unread entries. */
uint64_t roast__reading_unreadable(const struct roast_journal_reading *seen);

/* Returns an owned run. What is damaged is left out and counted, in *seen and as a loss
 * of the run. */
int roast__live_read(roast_run **out, const char *path,
                     struct roast_journal_reading *seen, roast_error *err);

struct roast_live_file {
    int fd;           /* taken: it is closed */
    const char *path; /* for errors */
    bool notes_only;  /* the run gets its notes, its start and its end */
};

/* The same for an open file. */
int roast__live_read_open(roast_run **out, const struct roast_live_file *file,
                          struct roast_journal_reading *seen, roast_error *err);

#endif
