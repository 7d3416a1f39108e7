/* SPDX-License-Identifier: BSD-3-Clause */
/* redact.h - the rules of roast/secret_rules.def, applied to parts of a text. */
#ifndef ROAST_BASE_REDACT_H
#define ROAST_BASE_REDACT_H

#include <stdint.h>

#include "roast/text.h"

/* What follows a name; see secret_rules.def. */
enum roast_secret {
    ROAST_SECRET_NONE,
    ROAST_SECRET_ANY,
    ROAST_SECRET_WORD,
    ROAST_SECRET_NEXT,
    ROAST_SECRET_LINE,
    ROAST_SECRET_TEXT,
    ROAST_SECRET_PATH,
    ROAST_SECRET_LONG,
    ROAST_SECRET_PORT,
    ROAST_SECRET_PAIR,
};

static inline bool roast__is_blank(char c)
{
    return (unsigned char)c <= ' ';
}

static inline bool roast__is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool roast__is_alnum(char c)
{
    return roast__is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Part of a word, such as `--api_key`. */
static inline bool roast__is_word(char c)
{
    return roast__is_alnum(c) || c == '_' || c == '-';
}

static inline bool roast__is_quote(char c)
{
    return c == '"' || c == '\'' || c == '`';
}

static inline char roast__lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static inline struct roast_str roast__str_from(struct roast_str text, size_t at)
{
    return (struct roast_str){text.data + at, text.size_bytes - at};
}

/* Whether the text begins with `key`, which joins the word before it: API key. */
static inline bool roast__is_key(struct roast_str text)
{
    return text.size_bytes >= 3 && roast__lower(text.data[0]) == 'k' &&
           roast__lower(text.data[1]) == 'e' && roast__lower(text.data[2]) == 'y';
}

/* What follows a name, of which only the end counts if it is long. */
enum roast_secret roast__secret_name(struct roast_str name);

/* The same for an option of a command: dashes and a word. */
enum roast_secret roast__secret_option(struct roast_str option);

/* The size of the token that the text begins with, or of its prefix alone; 0: none. */
size_t roast__secret_token(struct roast_str text);
bool roast__secret_prefix(struct roast_str text);

/* Whether a value may stay. `value` has no quotes; after_blank: it follows its name
 * without `=` or `:`. */
bool roast__value_is_plain(enum roast_secret secret, struct roast_str value,
                           bool after_blank);

/* Whether a value was the name or the kind of another value, which follows. */
bool roast__names_another(struct roast_str value);

/* Digits, perhaps with punctuation after them. */
bool roast__is_port(struct roast_str text);

/* The bytes of `***`, with a mark or without, that the text begins with; 0: none. */
size_t roast__mask_bytes(struct roast_str text);

enum { ROAST_NAME_MARK_BYTES = 9 }; /* ~ and 8 hex digits */

/* SipHash-2-4: without the key it cannot be computed. (keyed_hash.c) */
uint64_t roast__keyed_hash(const unsigned char key[ROAST_NAME_KEY_BYTES],
                           struct roast_str text);

#endif
