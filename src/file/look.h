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
    uint32_t format; /* of a finished file */
};

/* IO: it cannot be opened; BAD_DATA: it is no run file; TRUNCATED; NEWER_FORMAT. */
int roast__look(struct roast_look *out, const char *path, roast_error *err);

#endif
