/* SPDX-License-Identifier: BSD-3-Clause */
/* clean.h - texts of a cluster before they are kept: short, and without secrets.
 *
 * An address may hold a password, a reason or a line of code anything. All of one kind
 * are cut at the same place, so that a worker has the same name wherever it is told. */
#ifndef ROAST_RUN_CLEAN_H
#define ROAST_RUN_CLEAN_H

#include "roast/text.h"

enum {
    ROAST_NAME_BYTES = 256, /* of workers, hosts, prefixes, functions */
    ROAST_LINE_BYTES = 512, /* of code */
    ROAST_REASON_BYTES = 1024,
    ROAST_FILE_BYTES = 1024
};

/* The text itself, cut, or what is left of it in `room`; absent stays absent. */
static inline struct roast_str roast__clean(char *room, size_t room_bytes,
                                            struct roast_str text)
{
    if (!text.data || !roast_str_may_hold_secret(text))
        return text.data ? roast_str_cut(text, room_bytes) : text;
    return (struct roast_str){room, roast_str_redact(room, room_bytes, text)};
}

#endif
