/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_texts.h - texts of a document that outlive their token.
 *
 * None of them keeps credentials: they are taken out on the way in. */
#ifndef ROAST_COLLECT_MEASUREMENT_TEXTS_H
#define ROAST_COLLECT_MEASUREMENT_TEXTS_H

#include "base/str.h"
#include "collect/json.h"

/* Texts that are kept until the record is made, one behind the other. */
struct roast_texts {
    struct roast_buf bytes;
    struct roast_buf scratch;
};

/* A text in them; size UINT32_MAX: absent. */
struct roast_kept {
    uint32_t at;
    uint32_t size_bytes;
};

extern const struct roast_kept roast__kept_none;

/* The text without credentials: itself, or a copy that lives until the next call. */
struct roast_str roast__texts_clean(struct roast_texts *texts, struct roast_str text);

/* Keeps a clean copy; absent when out of memory, which `bytes.failed` says. */
struct roast_kept roast__texts_keep(struct roast_texts *texts, struct roast_str text);

/* The same of a file name, which may have a query without being a URL. */
struct roast_kept roast__texts_keep_file(struct roast_texts *texts,
                                         struct roast_str file);

/* What str() makes of a scalar of JSON; absent for null, lists and dicts. */
struct roast_kept roast__texts_keep_value(struct roast_texts *texts,
                                          const struct roast_json_token *value);

/* Borrowed until the next text is kept; absent for none. */
struct roast_str roast__texts_get(const struct roast_texts *texts,
                                  struct roast_kept kept);
void roast__texts_clear(struct roast_texts *texts);
void roast__texts_release(struct roast_texts *texts);

#endif
