/* SPDX-License-Identifier: BSD-3-Clause */
/* json_bytes.h - what the files of the JSON reader share. */
#ifndef ROAST_COLLECT_JSON_BYTES_H
#define ROAST_COLLECT_JSON_BYTES_H

#include "collect/json.h"

/* Reads the next piece; false at the end, or when it cannot be read. */
bool roast__json_fill(struct roast_json_reader *in);

/* The next byte, which stays; -1 at the end. */
static inline int roast__json_here(struct roast_json_reader *in)
{
    if (in->at == in->end && !roast__json_fill(in))
        return -1;
    return in->piece[in->at];
}

/* Fills err and returns status; IO instead where the input could not be read. */
int roast__json_refuse(const struct roast_json_reader *in, int status, const char *what,
                       roast_error *err);

/* Room for more bytes, with an eighth to spare: a text may be nearly all of the input,
 * and twice its size would be too much. */
void roast__json_room(struct roast_buf *buf, size_t more_bytes);

/* Reads the text whose quote is the next byte into out. */
int roast__json_text(struct roast_json_reader *in, struct roast_buf *out,
                     roast_error *err);

#endif
