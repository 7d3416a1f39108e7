/* SPDX-License-Identifier: BSD-3-Clause */
/* json_write.h - JSON, written piece by piece to anywhere.
 *
 * Commas come by themselves; brackets and keys are the caller's to match. Everything that
 * is not plain ASCII is escaped: the result is strict JSON whatever the bytes were, loses
 * nothing of what was UTF-8, and holds no byte that a terminal acts on. Escapes are the
 * shortest there are. With `utf8` texts stay UTF-8: no valid text becomes longer than any
 * JSON that it can have been read from. Nothing here allocates or fails; `put` keeps its
 * own failures. */
#ifndef ROAST_JSON_WRITE_H
#define ROAST_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "roast/text.h"

#ifdef __cplusplus
extern "C" {
#endif

struct roast_json {
    void (*put)(void *context, const void *bytes, size_t size_bytes);
    void *context;
    bool comma; /* the next value needs one before it */
    bool utf8;  /* for files of ours, which no terminal shows */
};

void roast_json_open(struct roast_json *json, char bracket);
void roast_json_close(struct roast_json *json, char bracket);
void roast_json_key(struct roast_json *json, struct roast_str key);

/* Bytes that are no UTF-8 become U+FFFD; an absent text is null. */
void roast_json_text(struct roast_json *json, struct roast_str text);
void roast_json_count(struct roast_json *json, uint64_t value);
void roast_json_integer(struct roast_json *json, int64_t value);
void roast_json_bool(struct roast_json *json, bool value);
void roast_json_null(struct roast_json *json);

/* The shortest number that reads back as the same double; null for what is none. */
void roast_json_number(struct roast_json *json, double value);

/* JSON that somebody made before. */
void roast_json_made(struct roast_json *json, struct roast_str made);

/* That shortest number as text; the number of bytes before the NUL. */
enum { ROAST_JSON_NUMBER_BYTES = 32 };
size_t roast_shortest_number(char out[ROAST_JSON_NUMBER_BYTES], double value);

#ifdef __cplusplus
}
#endif

#endif
