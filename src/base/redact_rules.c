/* SPDX-License-Identifier: BSD-3-Clause */
/* redact_rules.c - matches names, tokens and values with roast/secret_rules.def.
 *
 * Rules are found by their first character, from chains that are made once. */
#include <pthread.h>

#include "base/redact.h"

enum where { PART, LAST, FIRST };
enum charset { UPPER, HEX, ALNUM, TOKEN, BASE64 };

struct name_rule {
    const char *word;
    enum where where;
    enum roast_secret secret;
};

static const struct name_rule name_rules[] = {
#define N(word, where, value, kind) {word, where, ROAST_SECRET_##value},
#include "roast/secret_rules.def"
};

static const struct {
    const char *word;
    enum roast_secret secret;
} option_rules[] = {
#define O(word, value, kind) {word, ROAST_SECRET_##value},
#include "roast/secret_rules.def"
};

static const struct {
    const char *prefix;
    size_t prefix_bytes;
    enum charset charset;
    size_t least;
} token_rules[] = {
#define T(prefix, charset, least, kind) {prefix, sizeof(prefix) - 1, charset, least},
#include "roast/secret_rules.def"
};

/* Names that begin or end with such a word name no secret. */
static const char *const harmless_first[] = {"n",   "num", "max", "min",
                                             "has", "is",  "use", NULL};
static const char *const harmless_last[] = {
    "file",     "filename", "path",      "dir",      "folder",  "type",
    "count",    "length",   "len",       "size",     "index",   "limit",
    "lifetime", "ttl",      "expires",   "expiry",   "expired", "expiration",
    "error",    "required", "valid",     "method",   "policy",  "less",
    "based",    "free",     "tokenizer", "tokenize", NULL};

/* No values when they follow a name and a blank. */
static const char *const plain_words[] = {
    "a",          "after",    "an",        "and",      "at",      "authentication",
    "bucket",     "but",      "by",        "can",      "cannot",  "check",
    "could",      "count",    "did",       "does",     "error",   "exchange",
    "exists",     "expired",  "expires",   "failed",   "failure", "file",
    "for",        "found",    "from",      "had",      "has",     "have",
    "if",         "in",       "incorrect", "invalid",  "into",    "is",
    "was",        "are",      "were",      "be",       "isn't",   "lifetime",
    "limit",      "manager",  "mismatch",  "missing",  "must",    "near",
    "needed",     "not",      "of",        "on",       "or",      "path",
    "prompt",     "provided", "refresh",   "rejected", "request", "required",
    "revoked",    "scope",    "server",    "set",      "should",  "stream",
    "that",       "the",      "to",        "type",     "unknown", "valid",
    "validation", "when",     "while",     "will",     "with",    "without",
    "wrong",      NULL};

/* No secrets as values. */
static const char *const constants[] = {"true",  "false",     "none",    "null",
                                        "nan",   "undefined", "<unset>", "redacted",
                                        "empty", NULL};

enum {
    NAME_RULES = sizeof(name_rules) / sizeof(name_rules[0]),
    TOKEN_RULES = sizeof(token_rules) / sizeof(token_rules[0])
};

/* ---- rules by first character ---------------------------------------------------- */

/* 1 + the first rule of a character, and 1 + the next rule of the same; 0: no more. */
static unsigned char first_name[128], next_name[NAME_RULES];
static unsigned char first_token[128], next_token[TOKEN_RULES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

_Static_assert(NAME_RULES < 255 && TOKEN_RULES < 255, "rules are numbered in a byte");

static void make_chains(void)
{
    for (size_t i = NAME_RULES; i-- > 0;) {
        unsigned char c = (unsigned char)name_rules[i].word[0];
        next_name[i] = first_name[c];
        first_name[c] = (unsigned char)(i + 1);
    }
    for (size_t i = TOKEN_RULES; i-- > 0;) {
        unsigned char c = (unsigned char)token_rules[i].prefix[0];
        next_token[i] = first_token[c];
        first_token[c] = (unsigned char)(i + 1);
    }
}

static unsigned first_of(const unsigned char chains[128], char c)
{
    (void)pthread_once(&once, make_chains);
    return (unsigned char)c < 128 ? chains[(unsigned char)c] : 0;
}

/* ---- names ----------------------------------------------------------------------- */

enum { MOST_NAME_BYTES = 128 };

/* The end of a name in lower case, and where its words begin: after `_`, `-`, a blank or
 * any other character, and at the capital letter in `authToken`. */
struct plain_name {
    char text[MOST_NAME_BYTES];
    bool begins[MOST_NAME_BYTES + 1];
    size_t size;
};

static void make_plain(struct plain_name *plain, struct roast_str name)
{
    size_t from =
        name.size_bytes > MOST_NAME_BYTES ? name.size_bytes - MOST_NAME_BYTES : 0;
    bool begins = true;
    char before = '\0';

    plain->size = 0;
    for (size_t i = from; i < name.size_bytes; i++) {
        char c = name.data[i];
        bool is_hump = c >= 'A' && c <= 'Z' && before >= 'a' && before <= 'z';
        before = c;
        if (roast__is_blank(c) && !roast__is_key(roast__str_from(name, i + 1))) {
            plain->begins[plain->size] = true;
            plain->text[plain->size++] = ' ';
            begins = true;
            continue;
        }
        if (!roast__is_alnum(c)) {
            begins = true;
            continue;
        }
        plain->begins[plain->size] = begins || is_hump;
        plain->text[plain->size++] = roast__lower(c);
        begins = false;
    }
    plain->begins[plain->size] = true;
}

static bool has_word(const struct plain_name *name, const char *word, enum where where,
                     size_t at)
{
    size_t size = strlen(word);

    if (size > name->size - at || memcmp(name->text + at, word, size) != 0)
        return false;
    bool is_first = at == 0 && name->begins[size];
    bool is_last = name->begins[at] && at + size == name->size;
    return where == PART || (where == LAST ? is_last : is_first && !is_last);
}

static bool is_harmless(const struct plain_name *name)
{
    for (const char *const *word = harmless_first; *word; word++) {
        if (has_word(name, *word, FIRST, 0))
            return true;
    }
    for (const char *const *word = harmless_last; *word; word++) {
        size_t size = strlen(*word);
        if (size <= name->size && has_word(name, *word, LAST, name->size - size))
            return true;
    }
    return false;
}

enum roast_secret roast__secret_name(struct roast_str name)
{
    struct plain_name plain;
    enum roast_secret found = ROAST_SECRET_NONE;

    make_plain(&plain, name);
    for (size_t at = 0; at < plain.size; at++) {
        unsigned rule = first_of(first_name, plain.text[at]);
        for (; rule > 0; rule = next_name[rule - 1]) {
            const struct name_rule *row = &name_rules[rule - 1];
            bool is_more = found == ROAST_SECRET_NONE || found == ROAST_SECRET_LONG ||
                           row->secret == ROAST_SECRET_LINE;
            if (is_more && has_word(&plain, row->word, row->where, at))
                found = row->secret;
        }
    }
    return found != ROAST_SECRET_NONE && is_harmless(&plain) ? ROAST_SECRET_NONE
                                                             : found;
}

static bool is_lower_word(struct roast_str text, const char *word)
{
    size_t size = strlen(word);

    if (text.size_bytes != size)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (roast__lower(text.data[i]) != word[i])
            return false;
    }
    return true;
}

enum roast_secret roast__secret_option(struct roast_str option)
{
    while (option.size_bytes > 0 && option.data[0] == '-')
        option = roast__str_from(option, 1);
    for (size_t i = 0; i < sizeof(option_rules) / sizeof(option_rules[0]); i++) {
        if (is_lower_word(option, option_rules[i].word))
            return option_rules[i].secret;
    }
    return roast__secret_name(option) == ROAST_SECRET_NONE ? ROAST_SECRET_NONE
                                                           : ROAST_SECRET_ANY;
}

/* ---- tokens ---------------------------------------------------------------------- */

static bool is_in(enum charset charset, char c)
{
    switch (charset) {
    case UPPER:
        return roast__is_digit(c) || (c >= 'A' && c <= 'Z');
    case HEX:
        return roast__is_digit(c) || (c >= 'a' && c <= 'f');
    case ALNUM:
        return roast__is_alnum(c);
    case TOKEN:
    case BASE64:
        break;
    }
    return roast__is_alnum(c) || (charset == BASE64 && c == '/') ||
           (c != '\0' && strchr("_.~+=-", c) != NULL);
}

/* 1 + the next rule from `rule` on whose prefix the text begins with; 0: none. */
static unsigned with_prefix(struct roast_str text, unsigned rule)
{
    for (; rule > 0; rule = next_token[rule - 1]) {
        size_t size = token_rules[rule - 1].prefix_bytes;
        if (text.size_bytes >= size &&
            memcmp(text.data, token_rules[rule - 1].prefix, size) == 0)
            break;
    }
    return rule;
}

bool roast__secret_prefix(struct roast_str text)
{
    return text.size_bytes > 0 &&
           with_prefix(text, first_of(first_token, text.data[0])) > 0;
}

size_t roast__secret_token(struct roast_str text)
{
    unsigned rule = text.size_bytes > 0 ? first_of(first_token, text.data[0]) : 0;

    while ((rule = with_prefix(text, rule)) > 0) {
        size_t from = token_rules[rule - 1].prefix_bytes;
        size_t at = from;
        while (at < text.size_bytes &&
               is_in(token_rules[rule - 1].charset, text.data[at]))
            at++;
        if (at - from >= token_rules[rule - 1].least) {
            while (at < text.size_bytes && is_in(TOKEN, text.data[at]) &&
                   !strchr(".=", text.data[at]))
                at++;
            return at;
        }
        rule = next_token[rule - 1];
    }
    return 0;
}

/* ---- values ---------------------------------------------------------------------- */

static bool is_one_of(struct roast_str value, const char *const *words)
{
    while (*words && !is_lower_word(value, *words))
        words++;
    return *words != NULL;
}

/* Without the punctuation of a sentence or a list after it. */
static struct roast_str without_end(struct roast_str value)
{
    while (value.size_bytes > 0 && strchr(",;.)]}!?", value.data[value.size_bytes - 1]))
        value.size_bytes--;
    return value;
}

static bool is_number(struct roast_str value)
{
    bool has_digit = false;

    for (size_t i = 0; i < value.size_bytes; i++) {
        has_digit = has_digit || roast__is_digit(value.data[i]);
        if (!roast__is_digit(value.data[i]) && !strchr("+-.,%eE/", value.data[i]))
            return false;
    }
    return has_digit;
}

/* Has a digit, or a capital letter after a small one, or characters of base64. */
static bool looks_random(struct roast_str value, size_t least)
{
    bool has_letter = false;
    bool has_other = false;

    for (size_t i = 0; i < value.size_bytes; i++) {
        char c = value.data[i];
        char before = i > 0 ? value.data[i - 1] : '\0';
        has_letter = has_letter || !roast__is_digit(c);
        has_other = has_other || roast__is_digit(c) || strchr("=+/%$&#@^*!", c) ||
                    (c >= 'A' && c <= 'Z' && before >= 'a' && before <= 'z');
    }
    return value.size_bytes >= least && has_other &&
           (has_letter || value.size_bytes > 5);
}

/* At least two folders. */
static bool is_path(struct roast_str value)
{
    if (value.size_bytes > 0 && (value.data[0] == '~' || value.data[0] == '.'))
        value = roast__str_from(value, 1);
    return value.size_bytes > 1 && value.data[0] == '/' &&
           memchr(value.data + 1, '/', value.size_bytes - 1);
}

bool roast__value_is_plain(enum roast_secret secret, struct roast_str value,
                           bool after_blank)
{
    value = without_end(value);
    if (value.size_bytes == 0 || is_one_of(value, constants))
        return true;
    if (after_blank && memmem(value.data, value.size_bytes, "***", 3))
        return true; /* part of it is a mask */
    switch (secret) {
    case ROAST_SECRET_TEXT:
        return is_number(value) || after_blank || strchr("[(<{", value.data[0]);
    case ROAST_SECRET_PATH:
        return is_path(value) || (after_blank && !looks_random(value, 6));
    case ROAST_SECRET_PORT:
        return (is_number(value) && value.size_bytes <= 5) || is_path(value);
    case ROAST_SECRET_LONG:
        return after_blank || !looks_random(value, 16);
    case ROAST_SECRET_WORD:
        return after_blank && (is_one_of(value, plain_words) ||
                               (is_number(value) && value.size_bytes <= 4) ||
                               !roast__is_word(value.data[0]));
    case ROAST_SECRET_ANY:
        return after_blank && !looks_random(value, 6);
    default:
        return false;
    }
}

bool roast__names_another(struct roast_str value)
{
    static const char *const kinds[] = {"basic", "digest", "negotiate", "apikey", NULL};
    size_t from = value.size_bytes;

    if (from > 0 && strchr("=:", value.data[from - 1]))
        return true;
    while (from > 0 && roast__is_word(value.data[from - 1]))
        from--;
    struct roast_str word = roast__str_from(value, from);
    return is_one_of(word, kinds) || roast__secret_option(word) != ROAST_SECRET_NONE;
}

bool roast__is_port(struct roast_str text)
{
    size_t at = 0;

    while (at < text.size_bytes && roast__is_digit(text.data[at]))
        at++;
    while (at < text.size_bytes && strchr("'\")]}>,;:.\\", text.data[at]))
        at++;
    return at == text.size_bytes;
}

size_t roast__mask_bytes(struct roast_str text)
{
    size_t marked = 3 + ROAST_NAME_MARK_BYTES;

    if (text.size_bytes < 3 || memcmp(text.data, "***", 3) != 0)
        return 0;
    if (text.size_bytes < marked || text.data[3] != '~')
        return 3;
    for (size_t i = 4; i < marked; i++) {
        if (!is_in(HEX, text.data[i]))
            return 3;
    }
    return marked;
}

/* ---- whole texts ----------------------------------------------------------------- */

/* Secrets follow one of these characters, or have a prefix of their own. */
bool roast_str_may_hold_secret(struct roast_str text)
{
    bool inside = false; /* of a word */

    for (size_t i = 0; i < text.size_bytes; i++) {
        char c = text.data[i];
        if (roast__is_blank(c) || c == ':' || c == '=' || c == '(' || c == '%' ||
            c == '<' || c == '*' || roast__is_quote(c))
            return true;
        bool is_alnum = roast__is_alnum(c);
        if (is_alnum && !inside && roast__secret_prefix(roast__str_from(text, i)))
            return true;
        inside = is_alnum;
    }
    return false;
}

/* The worst case is one character, and a blank, for each mask. */
size_t roast_str_redact_bound(size_t text_bytes)
{
    return 2 * text_bytes + 16;
}

bool roast_str_is_secret(struct roast_str name, struct roast_str text)
{
    enum roast_secret secret = ROAST_SECRET_NONE;
    size_t from = 0;

    if (!name.data)
        return false;
    secret = roast__secret_name(name);
    for (size_t i = 0; secret == ROAST_SECRET_NONE && i < name.size_bytes; i++) {
        if (roast__is_word(name.data[i]))
            continue; /* any word of it may name a secret */
        secret = roast__secret_name((struct roast_str){name.data + from, i - from});
        from = i + 1;
    }
    switch (secret) {
    case ROAST_SECRET_NONE:
        return false;
    case ROAST_SECRET_TEXT:
    case ROAST_SECRET_PATH:
    case ROAST_SECRET_LONG:
        return text.data && !roast__value_is_plain(secret, text, false);
    default:
        return true;
    }
}
