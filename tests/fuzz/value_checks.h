/* SPDX-License-Identifier: BSD-3-Clause */
/* value_checks.h - PROMISE, which holds in every build, and a copy of any values. */
#ifndef ROAST_TESTS_FUZZ_VALUE_CHECKS_H
#define ROAST_TESTS_FUZZ_VALUE_CHECKS_H

#include <stdlib.h>

#include "record/values.h"
#include "roast/ladder.h"

/* abort() and not assert(): the fuzz build is an optimised one. */
#define PROMISE(condition) \
    do { \
        if (!(condition)) \
            abort(); \
    } while (0)

static inline void copy_token(roast_values *copy, const struct roast_value *value)
{
    switch (value->type) {
    case ROAST_VALUE_NULL:
        roast_values_put_null(copy);
        break;
    case ROAST_VALUE_FALSE:
    case ROAST_VALUE_TRUE:
        roast_values_put_bool(copy, value->type == ROAST_VALUE_TRUE);
        break;
    case ROAST_VALUE_INT:
        roast_values_put_int(copy, value->integer);
        break;
    case ROAST_VALUE_DOUBLE:
        roast_values_put_double(copy, value->number);
        break;
    case ROAST_VALUE_TEXT:
        roast_values_put_text(copy, value->str);
        break;
    case ROAST_VALUE_BYTES:
        roast_values_put_bytes(copy, value->str);
        break;
    case ROAST_VALUE_LIST:
        roast_values_put_list(copy, value->count);
        break;
    case ROAST_VALUE_DICT:
        roast_values_put_dict(copy, value->count);
        break;
    case ROAST_VALUE_COUNT:
        PROMISE(false); /* in memory only */
    }
}

/* Writes a blob that was checked again, token by token. Only the number of items left
 * is tracked at each depth. */
static inline void copy_values(roast_values *copy, struct roast_str blob)
{
    uint64_t left[ROAST_VALUE_MAX_DEPTH + 1] = {0};
    bool keyed[ROAST_VALUE_MAX_DEPTH + 1] = {true};
    struct roast_value value;
    struct roast_str key;
    size_t depth = 0;

    while (depth > 0 || blob.size_bytes > 0) {
        if (depth > 0 && left[depth]-- == 0) {
            depth--;
            continue;
        }
        if (keyed[depth]) {
            PROMISE(roast_value_next_key(&key, &blob, NULL) == 1);
            roast_values_put_key(copy, key);
        }
        PROMISE(roast_value_next(&value, &blob, NULL) == 1);
        copy_token(copy, &value);
        if (value.type != ROAST_VALUE_LIST && value.type != ROAST_VALUE_DICT)
            continue;
        PROMISE(depth < ROAST_VALUE_MAX_DEPTH);
        left[++depth] = value.count;
        keyed[depth] = value.type == ROAST_VALUE_DICT;
    }
}

#endif
