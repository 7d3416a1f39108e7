/* SPDX-License-Identifier: BSD-3-Clause */
/* look.h - what a file is, before anybody reads it. */
#ifndef ROAST_FILE_LOOK_H
#define ROAST_FILE_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "roast/error.h"

struct roast_look {
    bool live;
    uint64_t file_bytes;
    uint32_t format; /* of a finished file, as are those below */
    uint32_t page_bytes;
    uint32_t usable_bytes; /* of a page */
    bool plain;            /* UTF-8, no write-ahead log, no page that is out of use */
};

/* IO: it cannot be opened; BAD_DATA: it is no run file; TRUNCATED; NEWER_FORMAT. */
int roast__look(struct roast_look *out, const char *path, roast_error *err);

/* The same, and the file stays open: *fd is owned, and -1 if it failed. */
int roast__look_open(struct roast_look *out, int *fd, const char *path,
                     roast_error *err);

#endif
