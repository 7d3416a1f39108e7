/* SPDX-License-Identifier: BSD-3-Clause */
/* value.h - free-form values that users attach to a chunk.
 *
 * A blob of entries, each a key and a value: null, bool, int64, double, text, bytes,
 * list or dict, nested at most ROAST_VALUE_MAX_DEPTH deep and ROAST_VALUE_MAX_BYTES in
 * all. docs/format.md has the bytes. Reading is token by token, so neither side
 * recurses or allocates on behalf of the input. */
#ifndef ROAST_VALUE_H
#define ROAST_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roast/error.h"
#include "roast/text.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ROAST_VALUE_MAX_DEPTH = 8, ROAST_VALUE_MAX_BYTES = 64 * 1024 };

enum roast_value_type {
    ROAST_VALUE_NULL = 0,
    ROAST_VALUE_FALSE = 1,
    ROAST_VALUE_TRUE = 2,
    ROAST_VALUE_INT = 3,
    ROAST_VALUE_DOUBLE = 4,
    ROAST_VALUE_TEXT = 5,
    ROAST_VALUE_BYTES = 6,
    ROAST_VALUE_LIST = 7,  /* its items follow */
    ROAST_VALUE_DICT = 8,  /* its entries follow: key, value, key, value ... */
    ROAST_VALUE_COUNT = 9, /* uint64_t; in memory only, never in a blob */
};

/* ---- writing ---------------------------------------------------------------- */

typedef struct roast_values roast_values; /* a blob being written */

/* Where the blob ends now; rewinding to it removes everything put since, for example an
 * entry that turned out too large or too deep. */
size_t roast_values_mark(const roast_values *values);
void roast_values_rewind(roast_values *values, size_t mark);

/* False once a put failed for lack of memory or room. Rewinding makes it true again. */
bool roast_values_ok(const roast_values *values);

void roast_values_put_key(roast_values *values, struct roast_str key);
void roast_values_put_null(roast_values *values);
void roast_values_put_bool(roast_values *values, bool value);
void roast_values_put_int(roast_values *values, int64_t value);
void roast_values_put_double(roast_values *values, double value);
void roast_values_put_text(roast_values *values, struct roast_str text);
void roast_values_put_bytes(roast_values *values, struct roast_str bytes);
void roast_values_put_list(roast_values *values, uint64_t count);
void roast_values_put_dict(roast_values *values, uint64_t count);

/* What was written, borrowed until the next put; absent while empty. */
struct roast_str roast_values_blob(const roast_values *values);

/* ---- reading ---------------------------------------------------------------- */

/* One token. A list or dict is followed by its `count` items or entries. */
struct roast_value {
    enum roast_value_type type;
    int64_t integer;
    double number;
    struct roast_str str; /* borrows the blob */
    uint64_t count;       /* of items or entries; the value of a COUNT */
};

/* Each takes one key or token off the front of blob: 1 got one, 0 end, < 0 error. */
int roast_value_next_key(struct roast_str *key, struct roast_str *blob,
                         roast_error *err);
int roast_value_next(struct roast_value *value, struct roast_str *blob,
                     roast_error *err);

/* Takes one value with everything in it off the front. */
int roast_value_skip(struct roast_str *blob, roast_error *err);

/* Checks the whole blob: ROAST_OK when every entry is well formed and within the depth
 * limit. A reader may trust the structure after that. */
int roast_values_check(struct roast_str blob, roast_error *err);

#ifdef __cplusplus
}
#endif

#endif
