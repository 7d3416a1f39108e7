/* SPDX-License-Identifier: BSD-3-Clause */
/* read_header.h - what kind of file a path is, before it is read. */
#ifndef ROAST_FILE_READ_HEADER_H
#define ROAST_FILE_READ_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "roast/error.h"

struct roast_header {
    bool live;
    uint64_t file_bytes;
    uint32_t format; /* of a finished file */
};

/* IO: it cannot be opened; BAD_DATA: it is no run file; TRUNCATED; NEWER_FORMAT. With
 * `fd` (NULL allowed) the file remains open: *fd is owned, and -1 if it failed. */
int roast__read_header(struct roast_header *out, int *fd, const char *path,
                       roast_error *err);

#endif
