/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_values.c - values of JSON as the free-form values of a record.
 *
 * How many items a list has is known at its end: the count is put in then, which moves
 * them by a byte or two where there are 128 or more. */
#include "collect/measurement_values.h"

#include <string.h>

#include "base/bytes.h"

enum { LONGEST_REPR_BYTES = 1024, TYPE_AND_COUNT_BYTES = 2 };

/* A list or dict that is being put. */
struct level {
    size_t start; /* of its type byte */
    uint64_t count;
};

/* One entry that is being put. */
struct taking {
    struct roast_values *out;
    struct roast_texts *texts;
    struct roast_value_losses *losses;
    struct level levels[ROAST_JSON_MAX_DEPTH + 1];
    size_t depth;
    bool is_secret; /* the value that comes next stands under a key that says so */
};

/* ---- tags ------------------------------------------------------------------------ */

static struct roast_str blob_from(const struct roast_values *values, size_t start)
{
    return (struct roast_str){(const char *)values->buf.data + start,
                              values->buf.size_bytes - start};
}

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* In place of the text; false, and nothing changed, if it is no base64. */
static bool untag_bytes(struct roast_values *values, size_t start,
                        struct roast_str text)
{
    unsigned char *to = values->buf.data + start;
    size_t from = (size_t)((const unsigned char *)text.data - values->buf.data);
    size_t digits = text.size_bytes;
    uint32_t bits = 0;
    size_t size = 0;

    while (digits > 0 && text.size_bytes - digits < 2 && text.data[digits - 1] == '=')
        digits--;
    for (size_t i = 0; i < digits; i++) {
        if (base64_digit(text.data[i]) < 0)
            return false;
    }
    if (text.size_bytes % 4 != 0 || digits % 4 == 1)
        return false;
    unsigned char head[1 + ROAST_VARINT_MAX_BYTES] = {ROAST_VALUE_BYTES};
    size_t bytes = digits * 3 / 4;
    size_t head_bytes = (size_t)(roast__store_varint(head + 1, bytes) - head);
    memcpy(to, head, head_bytes); /* what stood there is longer: a dict and a tag */
    for (size_t i = 0; i < digits; i++) {
        bits = bits << 6 | (uint32_t)base64_digit((char)values->buf.data[from + i]);
        if (i % 4 != 0)
            to[head_bytes + size++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
    }
    values->buf.size_bytes = start + head_bytes + size;
    return true;
}

/* Moves what lies from `from` on to `start`. */
static void close_gap(struct roast_values *values, size_t start, size_t from)
{
    memmove(values->buf.data + start, values->buf.data + from,
            values->buf.size_bytes - from);
    values->buf.size_bytes -= from - start;
}

/* Takes one value with all that is in it off the front of a blob. */
static bool pass_value(struct roast_str *blob)
{
    uint64_t left[ROAST_JSON_MAX_DEPTH + 1] = {1};
    bool keyed[ROAST_JSON_MAX_DEPTH + 1] = {false};
    struct roast_value value;
    struct roast_str key;

    for (size_t depth = 1; depth > 0;) {
        if (left[depth - 1] == 0) {
            depth--;
            continue;
        }
        left[depth - 1]--;
        if ((keyed[depth - 1] && roast_value_next_key(&key, blob, NULL) != 1) ||
            roast_value_next(&value, blob, NULL) != 1)
            return false;
        if (value.type != ROAST_VALUE_LIST && value.type != ROAST_VALUE_DICT)
            continue;
        if (depth > ROAST_JSON_MAX_DEPTH)
            return false;
        keyed[depth] = value.type == ROAST_VALUE_DICT;
        left[depth++] = value.count;
    }
    return true;
}

/* The next of the pairs [text, value]; false if it is none. */
static bool next_pair(struct roast_str *pairs, struct roast_str *key,
                      struct roast_str *value)
{
    struct roast_value list, name;

    if (roast_value_next(&list, pairs, NULL) != 1 || list.type != ROAST_VALUE_LIST ||
        list.count != 2 || roast_value_next(&name, pairs, NULL) != 1 ||
        name.type != ROAST_VALUE_TEXT)
        return false;
    *key = name.str;
    *value = *pairs;
    if (!pass_value(pairs))
        return false;
    value->size_bytes -= pairs->size_bytes;
    return true;
}

static bool are_pairs(struct roast_str pairs, uint64_t count)
{
    struct roast_str key, value;

    for (uint64_t i = 0; i < count; i++) {
        if (!next_pair(&pairs, &key, &value))
            return false;
    }
    return true;
}

/* In place: an entry is shorter than the pair it was. */
static bool untag_dict(struct roast_values *values, size_t start,
                       struct roast_str pairs, uint64_t count)
{
    struct roast_str key, value;
    unsigned char *to = values->buf.data + start;

    if (!are_pairs(pairs, count))
        return false;
    *to++ = ROAST_VALUE_DICT;
    to = roast__store_varint(to, count);
    for (uint64_t i = 0; i < count && next_pair(&pairs, &key, &value); i++) {
        to = roast__store_varint(to, key.size_bytes);
        memmove(to, key.data, key.size_bytes);
        to += key.size_bytes;
        memmove(to, value.data, value.size_bytes);
        to += value.size_bytes;
    }
    values->buf.size_bytes = (size_t)(to - values->buf.data);
    return true;
}

static bool is_one_of(struct roast_str key, const char *const *names)
{
    for (; *names; names++) {
        if (roast__str_is(key, *names))
            return true;
    }
    return false;
}

/* Bytes that are text may hold a secret as text does. */
static void clean_bytes(struct roast_values *values, size_t start,
                        struct roast_texts *texts)
{
    struct roast_str rest = blob_from(values, start);
    struct roast_value value;

    if (roast_value_next(&value, &rest, NULL) != 1)
        return;
    for (size_t i = 0; i < value.str.size_bytes; i++) {
        if ((unsigned char)value.str.data[i] < '\t')
            return;
    }
    struct roast_str clean = roast__texts_clean(texts, value.str);
    if (!clean.data || clean.data == value.str.data)
        return;
    roast_values_rewind(values, start);
    roast_values_put_bytes(values, clean);
}

/* A dict of one entry whose key is a tag becomes what it stands for; one that holds
 * nonsense stays as it is. */
static void untag(struct roast_values *values, size_t start, struct roast_texts *texts)
{
    static const char *const lists[] = {"__tuple__", "__set__", "__frozenset__", NULL};
    static const char *const times[] = {"__datetime__", "__date__", NULL};
    struct roast_str rest = blob_from(values, start + TYPE_AND_COUNT_BYTES);
    struct roast_str key;
    struct roast_value value;

    if (roast_value_next_key(&key, &rest, NULL) != 1 || key.size_bytes < 2 ||
        memcmp(key.data, "__", 2) != 0)
        return;
    size_t from = values->buf.size_bytes - rest.size_bytes;
    if (roast_value_next(&value, &rest, NULL) != 1)
        return;
    if (value.type == ROAST_VALUE_TEXT && roast__str_is(key, "__bytes__")) {
        if (untag_bytes(values, start, value.str))
            clean_bytes(values, start, texts);
    } else if (value.type == ROAST_VALUE_LIST && roast__str_is(key, "__dict__"))
        (void)untag_dict(values, start, rest, value.count);
    else if ((value.type == ROAST_VALUE_LIST && is_one_of(key, lists)) ||
             (value.type == ROAST_VALUE_TEXT && is_one_of(key, times)))
        close_gap(values, start, from);
}

/* ---- tokens ---------------------------------------------------------------------- */

static void put_text(struct taking *taking, struct roast_str text)
{
    struct roast_str clean = roast__texts_clean(taking->texts, text);

    if (clean.data)
        roast_values_put_text(taking->out, clean);
}

static void put_key(struct taking *taking, struct roast_str key)
{
    struct roast_str clean = roast__texts_clean(taking->texts, key);

    if (clean.data)
        roast_values_put_key(taking->out, clean);
    taking->is_secret = clean.data && roast_str_names_secret(clean);
}

/* A whole number that is too large stays as its digits. */
static void put_whole(struct taking *taking, const struct roast_json_token *token)
{
    const uint64_t most = INT64_MAX;

    if (token->kind == ROAST_JSON_INT && token->size <= most) {
        int64_t size = (int64_t)token->size;
        roast_values_put_int(taking->out, token->negative ? -size : size);
    } else if (token->kind == ROAST_JSON_INT && token->negative) {
        roast_values_put_int(taking->out, INT64_MIN);
    } else {
        roast_values_put_text(taking->out,
                              roast_str_cut(token->text, LONGEST_REPR_BYTES));
        taking->losses->as_text++;
    }
}

static void open_level(struct taking *taking, const struct roast_json_token *token)
{
    struct roast_values *out = taking->out;

    taking->levels[taking->depth++] = (struct level){out->buf.size_bytes, 0};
    if (token->kind == ROAST_JSON_LIST)
        roast_values_put_list(out, 0);
    else
        roast_values_put_dict(out, 0);
}

static void close_level(struct taking *taking, bool is_dict)
{
    struct level level = taking->levels[--taking->depth];
    unsigned char count[ROAST_VARINT_MAX_BYTES];
    size_t size = (size_t)(roast__store_varint(count, level.count) - count);
    struct roast_buf *buf = &taking->out->buf;
    size_t at = level.start + 1;

    roast__buf_reserve(buf, size);
    if (!roast_values_ok(taking->out))
        return;
    memmove(buf->data + at + size, buf->data + at + 1, buf->size_bytes - at - 1);
    memcpy(buf->data + at, count, size);
    buf->size_bytes += size - 1;
    if (is_dict && level.count == 1)
        untag(taking->out, level.start, taking->texts);
}

static void put_token(struct taking *taking, const struct roast_json_token *token)
{
    bool is_end =
        token->kind == ROAST_JSON_LIST_END || token->kind == ROAST_JSON_DICT_END;

    if (!roast_values_ok(taking->out))
        return;
    if (!is_end && token->kind != ROAST_JSON_KEY && taking->depth > 0)
        taking->levels[taking->depth - 1].count++;
    switch (token->kind) {
    case ROAST_JSON_NULL:
        roast_values_put_null(taking->out);
        break;
    case ROAST_JSON_FALSE:
    case ROAST_JSON_TRUE:
        roast_values_put_bool(taking->out, token->kind == ROAST_JSON_TRUE);
        break;
    case ROAST_JSON_INT:
    case ROAST_JSON_BIG:
        put_whole(taking, token);
        break;
    case ROAST_JSON_DOUBLE:
        roast_values_put_double(taking->out, token->number);
        break;
    case ROAST_JSON_TEXT:
        put_text(taking, token->text);
        break;
    case ROAST_JSON_KEY:
        put_key(taking, token->text);
        break;
    case ROAST_JSON_LIST:
    case ROAST_JSON_DICT:
        open_level(taking, token);
        break;
    case ROAST_JSON_LIST_END:
    case ROAST_JSON_DICT_END:
        close_level(taking, token->kind == ROAST_JSON_DICT_END);
        break;
    }
}

/* Puts a token; in place of a secret, with all that is in it, three stars. */
static int take_token(struct taking *taking, struct roast_json_reader *in,
                      const struct roast_json_token *token, roast_error *err)
{
    const struct roast_json_token stars = {.kind = ROAST_JSON_TEXT,
                                           .text = roast_str_of("***")};
    bool hidden = taking->is_secret && roast__json_can_be_secret(token);

    if (token->kind != ROAST_JSON_KEY)
        taking->is_secret = false;
    put_token(taking, hidden ? &stars : token);
    return hidden ? roast__json_skip(in, token, err) : ROAST_OK;
}

int roast__values_take(struct roast_values *out, struct roast_str key,
                       const struct roast_part *part, struct roast_value_losses *losses)
{
    struct roast_json_reader *in = part->in;
    struct taking taking = {.out = out, .texts = part->texts, .losses = losses};
    struct roast_json_token token = *part->value;
    size_t mark = roast_values_mark(out);
    unsigned outside = in->depth - roast__json_is_container(part->value);

    put_key(&taking, key);
    int status = take_token(&taking, in, &token, part->err);
    while (status >= 0 && in->depth > outside) {
        status = roast__json_next(in, &token, part->err);
        if (status >= 0)
            status = take_token(&taking, in, &token, part->err);
    }
    if (status < 0)
        return status;
    if (out->buf.failed || part->texts->bytes.failed)
        return roast_error_set(part->err, ROAST_NO_MEMORY, "a value of a record");
    if (out->too_large || out->buf.size_bytes > ROAST_VALUE_MAX_BYTES ||
        roast_values_check(blob_from(out, mark), NULL) < 0) {
        roast_values_rewind(out, mark);
        losses->dropped++;
    }
    return ROAST_OK;
}
