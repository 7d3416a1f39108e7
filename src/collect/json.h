/* SPDX-License-Identifier: BSD-3-Clause */
/* json.h - JSON read token by token, from anywhere, in pieces.
 *
 * No document is built and nothing recurses: what is in memory is one piece of the
 * input and one text. Messages say where: "<name>: byte 1234: line 5: ...". Texts come
 * out as UTF-8 whatever went in: a byte that is none becomes '?', half of a surrogate
 * pair stays as it was written ("\ud800", six characters), and both are counted. */
#ifndef ROAST_COLLECT_JSON_H
#define ROAST_COLLECT_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "roast/error.h"
#include "roast/text.h"

enum { ROAST_JSON_MAX_DEPTH = 64, ROAST_JSON_MAX_TEXT_BYTES = 1 << 20 };

enum roast_json_kind {
    ROAST_JSON_NULL,
    ROAST_JSON_FALSE,
    ROAST_JSON_TRUE,
    ROAST_JSON_INT, /* 64 bits hold it; exact */
    ROAST_JSON_DOUBLE,
    ROAST_JSON_BIG, /* a whole number that 64 bits do not hold; lax readers only */
    ROAST_JSON_TEXT,
    ROAST_JSON_LIST,
    ROAST_JSON_DICT,
    ROAST_JSON_KEY,
    ROAST_JSON_LIST_END,
    ROAST_JSON_DICT_END,
};

struct roast_json_token {
    enum roast_json_kind kind;
    bool negative;         /* INT; it is `negative ? -size : size` */
    uint64_t size;         /* INT */
    double number;         /* INT, DOUBLE and BIG, rounded to the nearest double */
    struct roast_str text; /* TEXT and KEY; numbers as written. A KEY is borrowed until
                              the next KEY, all others until the next token */
};

/* Gives at most out_bytes bytes; how many, 0 at the end, negative: could not read. */
struct roast_json_source {
    int64_t (*read)(void *context, void *out, size_t out_bytes);
    void *context;
};

struct roast_json_reader {
    struct roast_json_source source;
    const char *name;
    bool lax;          /* takes NaN, Infinity and BIG, which Python writes */
    uint64_t replaced; /* bytes and surrogates that are no text */

    unsigned state;
    unsigned depth;
    bool is_dict[ROAST_JSON_MAX_DEPTH];
    unsigned char *piece; /* owned */
    size_t at;
    size_t end;
    uint64_t piece_offset; /* of piece[0] in the input */
    uint64_t line;
    bool ended, unreadable;
    struct roast_buf key, text;
};

/* Borrows name until release. NO_MEMORY. Zeroed = released. */
int roast__json_open(struct roast_json_reader *in, struct roast_json_source source,
                     const char *name, bool lax, roast_error *err);
void roast__json_release(struct roast_json_reader *in);

/* 1 with a token, 0 behind the document. Fails with BAD_DATA, LIMIT, IO or NO_MEMORY, and
 * is of no more use then. */
int roast__json_next(struct roast_json_reader *in, struct roast_json_token *token,
                     roast_error *err);

#endif
