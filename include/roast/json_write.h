/* SPDX-License-Identifier: BSD-3-Clause */
/* json_write.h - writes JSON piece by piece to any destination.
 *
 * Commas are written automatically; the caller matches brackets and keys. Everything that
 * is not plain ASCII is escaped: the result is strict JSON for any bytes, keeps all valid
 * UTF-8, and holds no byte that a terminal acts on. Escapes are the shortest possible.
 * With `utf8` texts stay UTF-8: no valid text becomes longer than the JSON it was read
 * from. No function allocates or fails; `put` keeps its own failures. */
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
    bool utf8;  /* for our own files, which no terminal shows */
};

void roast_json_open(struct roast_json *json, char bracket);
void roast_json_close(struct roast_json *json, char bracket);
void roast_json_key(struct roast_json *json, struct roast_str key);

/* Bytes that are not UTF-8 become U+FFFD; an absent text is null. */
void roast_json_text(struct roast_json *json, struct roast_str text);
void roast_json_count(struct roast_json *json, uint64_t value);
void roast_json_integer(struct roast_json *json, int64_t value);
void roast_json_bool(struct roast_json *json, bool value);
void roast_json_null(struct roast_json *json);

/* The shortest number that reads back as the same double; null for NaN and infinity. */
void roast_json_number(struct roast_json *json, double value);

/* A value that is already JSON. */
void roast_json_raw(struct roast_json *json, struct roast_str raw);

/* The same number as text; returns its size without the NUL. */
enum { ROAST_JSON_NUMBER_BYTES = 32 };
size_t roast_shortest_number(char out[ROAST_JSON_NUMBER_BYTES], double value);

#ifdef __cplusplus
}
#endif

#endif
