/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_texts.c - texts of a document that outlive their token. */
#include "collect/measurement_texts.h"

#include "collect/json_bytes.h"

const struct roast_kept roast__kept_none = {0, UINT32_MAX};

enum { MOST_TEXT_BYTES = 1 << 30, LARGE_BYTES = 4096 };

typedef size_t redactor(char *out, size_t out_bytes, struct roast_str text);

/* Redacts into the scratch; absent when out of memory. */
static struct roast_str redact(struct roast_texts *texts, struct roast_str text,
                               redactor *by)
{
    size_t room = text.size_bytes + text.size_bytes / 3 + 16; /* `***` may be longer */
    struct roast_str clean = {NULL, 0};

    roast__buf_clear(&texts->scratch);
    roast__json_room(&texts->scratch, room);
    if (!roast__buf_ok(&texts->scratch)) {
        texts->bytes.failed = true;
        return clean;
    }
    clean.data = (const char *)texts->scratch.data;
    clean.size_bytes = by((char *)texts->scratch.data, room, text);
    return clean;
}

struct roast_str roast__texts_clean(struct roast_texts *texts, struct roast_str text)
{
    if (!roast_str_may_hold_secret(text) ||
        text.data == (const char *)texts->scratch.data)
        return text; /* the scratch holds what was made clean before */
    return redact(texts, text, roast_str_redact);
}

static struct roast_kept keep(struct roast_texts *texts, struct roast_str clean)
{
    if (clean.size_bytes > MOST_TEXT_BYTES - texts->bytes.size_bytes)
        texts->bytes.failed = true; /* no record is that large */
    if (!clean.data || texts->bytes.failed)
        return roast__kept_none;
    struct roast_kept kept = {(uint32_t)texts->bytes.size_bytes,
                              (uint32_t)clean.size_bytes};
    roast__json_room(&texts->bytes, clean.size_bytes);
    roast__buf_put(&texts->bytes, clean.data, clean.size_bytes);
    if (texts->scratch.cap_bytes > LARGE_BYTES)
        roast__buf_release(&texts->scratch); /* one text may be nearly all there is */
    return texts->bytes.failed ? roast__kept_none : kept;
}

struct roast_kept roast__texts_keep(struct roast_texts *texts, struct roast_str text)
{
    return keep(texts, roast__texts_clean(texts, text));
}

struct roast_kept roast__texts_keep_file(struct roast_texts *texts,
                                         struct roast_str file)
{
    return keep(texts, redact(texts, file, roast_str_redact_file));
}

struct roast_kept roast__texts_keep_value(struct roast_texts *texts,
                                          const struct roast_json_token *value)
{
    switch (value->kind) {
    case ROAST_JSON_TRUE:
        return roast__texts_keep(texts, roast_str_of("True"));
    case ROAST_JSON_FALSE:
        return roast__texts_keep(texts, roast_str_of("False"));
    case ROAST_JSON_INT:
    case ROAST_JSON_DOUBLE:
    case ROAST_JSON_BIG:
    case ROAST_JSON_TEXT:
        return roast__texts_keep(texts, value->text);
    default:
        return roast__kept_none;
    }
}

struct roast_str roast__texts_get(const struct roast_texts *texts,
                                  struct roast_kept kept)
{
    if (kept.size_bytes == UINT32_MAX)
        return (struct roast_str){NULL, 0};
    if (!texts->bytes.data)
        return (struct roast_str){"", 0};
    return (struct roast_str){(const char *)texts->bytes.data + kept.at,
                              kept.size_bytes};
}

void roast__texts_clear(struct roast_texts *texts)
{
    roast__buf_clear(&texts->bytes);
}

void roast__texts_release(struct roast_texts *texts)
{
    roast__buf_release(&texts->bytes);
    roast__buf_release(&texts->scratch);
}
