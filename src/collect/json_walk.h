/* SPDX-License-Identifier: BSD-3-Clause */
/* json_walk.h - going through the values of a document.
 *
 * Whoever gets the first token of a list or dict reads it to its end, with these, before
 * asking for what follows it. */
#ifndef ROAST_COLLECT_JSON_WALK_H
#define ROAST_COLLECT_JSON_WALK_H

#include "collect/json.h"

/* The next item of the list, or entry of the dict, that is being read: 1 with the first
 * token of its value, 0 at the end. */
int roast__json_item(struct roast_json_reader *in, struct roast_json_token *value,
                     roast_error *err);
int roast__json_entry(struct roast_json_reader *in, struct roast_str *key,
                      struct roast_json_token *value, roast_error *err);

/* Reads what is left of a value. */
int roast__json_skip(struct roast_json_reader *in, const struct roast_json_token *value,
                     roast_error *err);

/* JSON text that is being made of values of documents. */
struct roast_json_copy {
    struct roast_buf out;
    char *scratch; /* owned; for the text that is copied now */
    size_t scratch_bytes;
    size_t max_bytes;
    uint64_t nonfinite; /* numbers that are none: null in the copy */
    uint64_t left_out;  /* values that found no room */
    bool is_secret;     /* the value that comes next stands under a key that says so */
};

/* Appends a value in strict JSON, without credentials; what would pass max_bytes is
 * left out whole and counted. 1: it is there, 0: it is not. */
int roast__json_copy(struct roast_json_copy *copy, struct roast_json_reader *in,
                     const struct roast_json_token *value, roast_error *err);

/* Appends `"key": value` and a comma before it unless it comes first. */
int roast__json_copy_entry(struct roast_json_copy *copy, struct roast_json_reader *in,
                           struct roast_str key, const struct roast_json_token *value,
                           roast_error *err);

void roast__json_copy_release(struct roast_json_copy *copy);

static inline bool roast__json_is_container(const struct roast_json_token *token)
{
    return token->kind == ROAST_JSON_LIST || token->kind == ROAST_JSON_DICT;
}

/* Whether something is so, or is not there, is no secret. */
static inline bool roast__json_can_be_secret(const struct roast_json_token *value)
{
    return value->kind >= ROAST_JSON_INT && value->kind <= ROAST_JSON_DICT;
}

static inline bool roast__json_is_number(const struct roast_json_token *token)
{
    return token->kind == ROAST_JSON_INT || token->kind == ROAST_JSON_DOUBLE ||
           token->kind == ROAST_JSON_BIG;
}

#endif
