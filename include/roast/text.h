/* SPDX-License-Identifier: BSD-3-Clause */
/* text.h - borrowed text.
 *
 * Text inside libroast is UTF-8 with a length: it may hold NUL bytes and need not end
 * with one. `data == NULL` means absent, which is not the same as empty. */
#ifndef ROAST_TEXT_H
#define ROAST_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct roast_str {
    const char *data; /* borrowed; NULL = absent */
    size_t size_bytes;
};

/* Borrows a NUL-terminated string. */
static inline struct roast_str roast_str_of(const char *text)
{
    struct roast_str str = {text, text ? strlen(text) : 0};
    return str;
}

/* The longest prefix of at most max_bytes bytes that does not cut a character. */
struct roast_str roast_str_cut(struct roast_str str, size_t max_bytes);

/* Secrets out of texts, by the rules of roast/secret_rules.def: each becomes `***`. A URL
 * loses the user information before its host and everything from `?` or `#` on. Where a
 * text is ambiguous, more is removed. The time is linear in the size of the text.
 *
 * All copy to out and return the number of bytes written; the result is cut to fit.
 * Redacting a second time changes nothing. */
size_t roast_str_redact(char *out, size_t out_bytes, struct roast_str text);

enum { ROAST_NAME_KEY_BYTES = 16 };

/* The same for a name of a dataset or a file, which may hold blanks. The first `***` is
 * followed by a mark, `***~1f3a90c2`: a hash of the whole name with a key that is not
 * stored, so that names which differ in a secret stay different. */
size_t roast_str_redact_name(char *out, size_t out_bytes, struct roast_str name,
                             const unsigned char key[ROAST_NAME_KEY_BYTES]);

/* One argument of a command line after another. Zeroed before the first; it remembers
 * that the next argument is the value of an option. */
struct roast_redact_arguments {
    int expects;
};
size_t roast_str_redact_argument(struct roast_redact_arguments *state, char *out,
                                 size_t out_bytes, struct roast_str argument);

/* The output size that is enough for any text of text_bytes bytes: `***` may be longer
 * than what it replaces. */
size_t roast_str_redact_bound(size_t text_bytes);

/* False if redacting would change nothing; a quick test for most names. */
bool roast_str_may_hold_secret(struct roast_str text);

/* Whether a value must not be stored for its name: `password`, `X-Auth-Token` ...; for
 * some names, such as `pass`, only if it is a certain text. An absent text stands for a
 * value of another type. */
bool roast_str_is_secret(struct roast_str name, struct roast_str text);

/* A text returned by a function. */
struct roast_page {
    char *text; /* owned; NUL-terminated */
    size_t size_bytes;
};

void roast_page_release(struct roast_page *page);

#ifdef __cplusplus
}
#endif

#endif
