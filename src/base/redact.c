/* SPDX-License-Identifier: BSD-3-Clause */
/* redact.c - takes secrets out of text before it is kept.
 *
 * Two rules, which may remove more than necessary: a URL loses its query and everything
 * before its host; the value after a word that names a secret (`password=...`, `Bearer
 * ...`) is removed. Only a blank ends a URL or a secret, because passwords and queries
 * may hold any other character. */
#include "roast/text.h"

/* Parts of words that name a secret, lower case. */
static const char *const secret_words[] = {
    "passw",   "passphrase",    "pwd",        "secret",    "token",
    "authz",   "authorization", "credential", "signature", "apikey",
    "api_key", "api-key",       "access_key", "accesskey", "bearer",
};

/* Text being read and memory being filled. */
struct redactor {
    struct roast_str text;
    size_t at;
    char *out;
    size_t left_bytes;
    bool blank_ends_url;
};

static bool is_blank(char c)
{
    return (unsigned char)c <= ' ';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '-';
}

static bool at_end(const struct redactor *r)
{
    return r->at >= r->text.size_bytes;
}

static char here(const struct redactor *r)
{
    return r->text.data[r->at];
}

static bool url_ends(const struct redactor *r)
{
    return at_end(r) || (r->blank_ends_url && is_blank(here(r)));
}

static void put(struct redactor *r, const char *bytes, size_t size_bytes)
{
    size_t fit = size_bytes < r->left_bytes ? size_bytes : r->left_bytes;

    memcpy(r->out, bytes, fit);
    r->out += fit;
    r->left_bytes -= fit;
}

static bool starts_authority(const struct redactor *r)
{
    return r->text.size_bytes - r->at >= 3 &&
           memcmp(r->text.data + r->at, "://", 3) == 0;
}

/* Copies one URL from its "://" on. A URL in the path of another, as in caches, is
 * treated the same way. */
static void copy_url(struct redactor *r)
{
    while (!url_ends(r) && here(r) != '?' && here(r) != '#') {
        if (!starts_authority(r)) {
            put(r, r->text.data + r->at++, 1);
            continue;
        }
        put(r, "://", 3);
        r->at += 3;
        size_t host = r->at; /* after the last '@' before the path */
        for (; !url_ends(r) && here(r) != '/' && here(r) != '?' && here(r) != '#';
             r->at++) {
            if (here(r) == '@')
                host = r->at + 1;
        }
        r->at = host;
    }
    while (!url_ends(r))
        r->at++;
}

/* Upper case counts as lower case; `part` is lower case. */
static bool holds(struct roast_str word, const char *part)
{
    size_t part_bytes = strlen(part);

    for (size_t i = 0; i + part_bytes <= word.size_bytes; i++) {
        size_t k = 0;
        for (; k < part_bytes; k++) {
            char c = word.data[i + k];
            if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != part[k])
                break;
        }
        if (k == part_bytes)
            return true;
    }
    return false;
}

static bool names_secret(struct roast_str word)
{
    for (size_t i = 0; i < sizeof(secret_words) / sizeof(secret_words[0]); i++) {
        if (holds(word, secret_words[i]))
            return true;
    }
    return word.size_bytes == 4 && holds(word, "auth");
}

/* A name may have several words; one that names a secret is enough. */
bool roast_str_names_secret(struct roast_str name)
{
    if (!name.data || names_secret(name))
        return name.data != NULL;
    for (size_t i = 0; i < name.size_bytes; i++) {
        struct roast_str word = {name.data + i, 0};
        for (; i < name.size_bytes && is_word(name.data[i]); i++)
            word.size_bytes++;
        if (names_secret(word))
            return true;
    }
    return false;
}

/* A JSON web token: base64 of `{"...`. */
static bool is_token(struct roast_str word)
{
    return word.size_bytes >= 16 && memcmp(word.data, "eyJ", 3) == 0;
}

/* Copies quotes, blanks and `=` or `:` after a word. True if a value follows: after `=`
 * or `:`, or after a blank following `--word` and `Bearer`. *quote gets the quote
 * character around the value, or 0. */
static bool copy_separator(struct redactor *r, struct roast_str word, char *quote)
{
    bool found = holds(word, "bearer") ||
                 (word.size_bytes > 2 && word.data[0] == '-' && word.data[1] == '-');

    for (*quote = 0; !at_end(r); r->at++) {
        char c = here(r);
        bool is_quote = c == '"' || c == '\'';
        if (c == '=' || c == ':')
            found = true;
        else if (!is_blank(c) && !is_quote)
            break;
        *quote = is_quote ? c : 0;
        put(r, &c, 1);
    }
    return found && !at_end(r);
}

/* Skips to the closing quote, which is not escaped; without quotes, to a blank. */
static void skip_value(struct redactor *r, char quote)
{
    while (!at_end(r) && (quote ? here(r) != quote : !is_blank(here(r))))
        r->at += quote && here(r) == '\\' ? 2 : 1;
    if (at_end(r))
        r->at = r->text.size_bytes;
}

/* The next word is the secret, or its kind followed by the secret. */
static void replace_value(struct redactor *r, struct roast_str word, char quote)
{
    struct roast_str kind = {r->text.data + r->at, r->text.size_bytes - r->at};
    bool two = holds(word, "authorization") ||
               holds(roast_str_cut(kind, 6), "bearer") ||
               holds(roast_str_cut(kind, 5), "basic");

    skip_value(r, quote);
    while (two && !at_end(r) && is_blank(here(r)))
        r->at++;
    if (two)
        skip_value(r, quote);
    put(r, "***", 3);
}

static void copy_word(struct redactor *r)
{
    struct roast_str word = {r->text.data + r->at, 0};
    char quote;

    for (; !at_end(r) && is_word(here(r)); r->at++)
        word.size_bytes++;
    if (is_token(word)) {
        skip_value(r, 0);
        put(r, "***", 3);
        return;
    }
    put(r, word.data, word.size_bytes);
    if (names_secret(word) && !starts_authority(r) && copy_separator(r, word, &quote))
        replace_value(r, word, quote);
}

/* A secret follows a blank, a colon or an equals sign, or is a web token. */
bool roast_str_may_hold_secret(struct roast_str text)
{
    for (size_t i = 0; i < text.size_bytes; i++) {
        char c = text.data[i];
        if (is_blank(c) || c == ':' || c == '=' ||
            (c == 'e' &&
             is_token((struct roast_str){text.data + i, text.size_bytes - i})))
            return true;
    }
    return false;
}

/* The worst case is `pwd=a ` repeated: two bytes more in six. */
size_t roast_str_redact_bound(size_t text_bytes)
{
    return text_bytes + text_bytes / 3 + 2;
}

size_t roast_str_redact(char *out, size_t out_bytes, struct roast_str text)
{
    struct redactor r = {text, 0, out, out_bytes, true};

    while (!at_end(&r)) {
        if (is_word(here(&r)))
            copy_word(&r);
        else if (starts_authority(&r))
            copy_url(&r);
        else
            put(&r, text.data + r.at++, 1);
    }
    return out_bytes - r.left_bytes;
}

size_t roast_str_redact_file(char *out, size_t out_bytes, struct roast_str file)
{
    struct redactor r = {file, 0, out, out_bytes, false};

    if (!file.data)
        return 0;
    const char *scheme = memmem(file.data, file.size_bytes, "://", 3);
    if (scheme) {
        r.at = (size_t)(scheme - file.data);
        put(&r, file.data, r.at);
        copy_url(&r);
        return out_bytes - r.left_bytes;
    }
    /* XRootD servers accept a query after a plain path: `?key=value` */
    const char *query = memchr(file.data, '?', file.size_bytes);
    size_t path_bytes = query ? (size_t)(query - file.data) : file.size_bytes;
    if (query && !memchr(query, '=', file.size_bytes - path_bytes))
        path_bytes = file.size_bytes;
    put(&r, file.data, path_bytes);
    return out_bytes - r.left_bytes;
}
