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

/* Copy text to out without secrets; what does not fit is cut. Both return the number of
 * bytes written.
 *
 * redact is for messages: every URL (anything with `://`) loses the user information
 * before its host and everything from `?` or `#` on; the value after a word that names
 * a secret (password, token, Bearer, ...) becomes `***`.
 *
 * redact_file is for one file name or URL, which may hold blanks: the same for the URL;
 * a plain path loses a query `?key=value`. */
size_t roast_str_redact(char *out, size_t out_bytes, struct roast_str text);
size_t roast_str_redact_file(char *out, size_t out_bytes, struct roast_str file);

/* The output size that is enough for any text of text_bytes bytes: `***` may be longer
 * than what it replaces. */
size_t roast_str_redact_bound(size_t text_bytes);

/* False where redact would change nothing; a quick test for most names. */
bool roast_str_may_hold_secret(struct roast_str text);

/* Whether a value of this name must not be stored: `password`, `X-Auth-Token` ... */
bool roast_str_names_secret(struct roast_str name);

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
