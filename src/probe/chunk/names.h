/* SPDX-License-Identifier: BSD-3-Clause */
/* names.h - the names of the latest chunks of a thread, and how they are stored.
 *
 * A name is redacted when it is new, not for every chunk. */
#ifndef ROAST_PROBE_CHUNK_NAMES_H
#define ROAST_PROBE_CHUNK_NAMES_H

#include <stdint.h>

#include "roast/text.h"

enum { ROAST_KEPT_NAMES = 8, ROAST_KEPT_NAME_BYTES = 384 };

/* Zeroed = empty. A name that does not fit is not kept. */
struct roast_kept_names {
    struct {
        unsigned char key[ROAST_NAME_KEY_BYTES];
        size_t given_bytes; /* 0: unused */
        size_t clean_bytes;
        char given[ROAST_KEPT_NAME_BYTES];
        char clean[ROAST_KEPT_NAME_BYTES];
    } items[ROAST_KEPT_NAMES];
    unsigned next;       /* to be replaced */
    uint64_t redactions; /* names that were not here; for a test */
};

size_t roast__names_redact(struct roast_kept_names *names, char *out, size_t out_bytes,
                           struct roast_str name,
                           const unsigned char key[ROAST_NAME_KEY_BYTES]);

#endif
