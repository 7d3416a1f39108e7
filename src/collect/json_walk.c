/* SPDX-License-Identifier: BSD-3-Clause */
/* json_walk.c - going through the values of a document, and copying them.
 *
 * A copy is strict JSON: what Python writes beyond that (NaN, Infinity) becomes null. Its
 * texts lose their credentials; a text under a key that names a secret is one. */
#include "collect/json_walk.h"

#include <math.h>

#include "base/mem.h"
#include "collect/json_bytes.h"
#include "roast/json_write.h"

int roast__json_item(struct roast_json_reader *in, struct roast_json_token *value,
                     roast_error *err)
{
    int got = roast__json_next(in, value, err);

    return got == 1 && value->kind == ROAST_JSON_LIST_END ? 0 : got;
}

int roast__json_entry(struct roast_json_reader *in, struct roast_str *key,
                      struct roast_json_token *value, roast_error *err)
{
    int got = roast__json_next(in, value, err);

    if (got != 1 || value->kind == ROAST_JSON_DICT_END)
        return got == 1 ? 0 : got;
    *key = value->text;
    return roast__json_next(in, value, err);
}

int roast__json_skip(struct roast_json_reader *in, const struct roast_json_token *value,
                     roast_error *err)
{
    struct roast_json_token token;
    unsigned outside = in->depth - 1;
    int got = 1;

    if (!roast__json_is_container(value))
        return ROAST_OK;
    while (got == 1 && in->depth > outside)
        got = roast__json_next(in, &token, err);
    return got < 0 ? got : ROAST_OK;
}

/* ---- copies ---------------------------------------------------------------------- */

static void put_bytes(void *context, const void *bytes, size_t size_bytes)
{
    struct roast_buf *out = context;

    roast__json_room(out, size_bytes);
    roast__buf_put(out, bytes, size_bytes);
}

/* The text without its credentials, in the scratch of the copy; absent when out of
 * memory. */
static struct roast_str redacted(struct roast_json_copy *copy, struct roast_str text)
{
    size_t room = roast_str_redact_bound(text.size_bytes);

    if (room > copy->scratch_bytes) {
        char *scratch = roast__realloc(copy->scratch, room);
        if (!scratch) {
            copy->out.failed = true;
            return (struct roast_str){NULL, 0};
        }
        copy->scratch = scratch;
        copy->scratch_bytes = room;
    }
    return (struct roast_str){copy->scratch,
                              roast_str_redact(copy->scratch, room, text)};
}

static void put_number(struct roast_json *json, struct roast_json_copy *copy,
                       const struct roast_json_token *token)
{
    bool known = token->kind != ROAST_JSON_DOUBLE || isfinite(token->number);

    copy->nonfinite += !known;
    if (known)
        roast_json_made(json, token->text);
    else
        roast_json_null(json);
}

/* What was left out took its comma along, so that is read off the bytes. */
static bool behind_value(const struct roast_json_copy *copy)
{
    char last =
        copy->out.size_bytes > 0 ? (char)copy->out.data[copy->out.size_bytes - 1] : '{';

    return last != '{' && last != '[' && last != ':';
}

static void put_token(struct roast_json_copy *copy,
                      const struct roast_json_token *token)
{
    struct roast_json json = {.put = put_bytes,
                              .context = &copy->out,
                              .comma = behind_value(copy),
                              .utf8 = true};

    if (!roast__buf_ok(&copy->out))
        return;
    switch (token->kind) {
    case ROAST_JSON_NULL:
        roast_json_null(&json);
        break;
    case ROAST_JSON_FALSE:
    case ROAST_JSON_TRUE:
        roast_json_bool(&json, token->kind == ROAST_JSON_TRUE);
        break;
    case ROAST_JSON_INT:
    case ROAST_JSON_DOUBLE:
    case ROAST_JSON_BIG:
        put_number(&json, copy, token);
        break;
    case ROAST_JSON_TEXT:
        roast_json_text(&json, redacted(copy, token->text));
        break;
    case ROAST_JSON_LIST:
        roast_json_open(&json, '[');
        break;
    case ROAST_JSON_DICT:
        roast_json_open(&json, '{');
        break;
    case ROAST_JSON_KEY:
        roast_json_key(&json, redacted(copy, token->text));
        copy->is_secret = roast_str_names_secret(token->text);
        break;
    case ROAST_JSON_LIST_END:
        roast_json_close(&json, ']');
        break;
    case ROAST_JSON_DICT_END:
        roast_json_close(&json, '}');
        break;
    }
}

/* Puts a token; in place of a secret, with all that is in it, three stars. */
static int copy_token(struct roast_json_copy *copy, struct roast_json_reader *in,
                      const struct roast_json_token *token, roast_error *err)
{
    const struct roast_json_token stars = {.kind = ROAST_JSON_TEXT,
                                           .text = roast_str_of("***")};
    bool hidden = copy->is_secret && roast__json_can_be_secret(token);

    copy->is_secret = false;
    if (copy->out.size_bytes <= copy->max_bytes)
        put_token(copy, hidden ? &stars : token);
    return hidden ? roast__json_skip(in, token, err) : ROAST_OK;
}

int roast__json_copy(struct roast_json_copy *copy, struct roast_json_reader *in,
                     const struct roast_json_token *value, roast_error *err)
{
    struct roast_json_token token = *value;
    size_t before = copy->out.size_bytes;
    unsigned outside = in->depth - roast__json_is_container(value);
    int status = copy_token(copy, in, &token, err);

    while (status >= 0 && in->depth > outside) {
        status = roast__json_next(in, &token, err);
        if (status >= 0)
            status = copy_token(copy, in, &token, err);
    }
    copy->is_secret = false;
    if (status < 0) {
        copy->out.size_bytes = before;
        return status;
    }
    if (!roast__buf_ok(&copy->out))
        return roast_error_set(err, ROAST_NO_MEMORY, "a copy of %zu bytes", before);
    if (copy->out.size_bytes <= copy->max_bytes)
        return 1;
    copy->out.size_bytes = before;
    copy->left_out++;
    return 0;
}

int roast__json_copy_entry(struct roast_json_copy *copy, struct roast_json_reader *in,
                           struct roast_str key, const struct roast_json_token *value,
                           roast_error *err)
{
    const struct roast_json_token name = {.kind = ROAST_JSON_KEY, .text = key};
    size_t before = copy->out.size_bytes;

    put_token(copy, &name);
    int got = roast__json_copy(copy, in, value, err);
    if (got == 0)
        copy->out.size_bytes = before;
    return got;
}

void roast__json_copy_release(struct roast_json_copy *copy)
{
    roast__buf_release(&copy->out);
    roast__free(copy->scratch);
    *copy = (struct roast_json_copy){.max_bytes = copy->max_bytes};
}
