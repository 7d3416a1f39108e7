/* SPDX-License-Identifier: BSD-3-Clause */
/* redact.c - takes secrets out of texts before they are kept: the only place.
 *
 * One pass from left to right. At each place the text is copied, or a region that may be
 * a secret becomes `***`; a region that is already a mask stays. What is read ahead of a
 * place is then copied or removed, so the time is linear. Only a blank ends a URL or
 * a value without quotes, because passwords and queries may hold any other character; in
 * a name not even a blank does. */
#include "base/redact.h"

enum { LOOK_AHEAD = 256 }; /* where what follows may not be consumed */

/* Text being read and memory being filled. */
struct redactor {
    struct roast_str text;
    size_t at;
    char *out;
    size_t left_bytes;
    char last; /* the character written last */
    bool is_name;
    bool is_marked;
    const unsigned char *key; /* of a mark after the first mask; NULL: none */
    size_t word_from;         /* the word before this place */
    size_t word_end;
    size_t run_end; /* of the characters without a blank around this place */
    size_t run_at;  /* its last '@' before a host; SIZE_MAX: none */
    size_t url_end; /* up to here `?` begins a query */
};

static char char_at(const struct redactor *r, size_t at)
{
    return at < r->text.size_bytes ? r->text.data[at] : '\0';
}

static struct roast_str part(const struct redactor *r, size_t from, size_t end)
{
    return (struct roast_str){r->text.data + from, end - from};
}

static bool starts_with(const struct redactor *r, size_t at, const char *word)
{
    size_t size = strlen(word);

    return r->text.size_bytes - at >= size &&
           memcmp(r->text.data + at, word, size) == 0;
}

static bool ends_run(const struct redactor *r, size_t at)
{
    return at >= r->text.size_bytes ||
           (!r->is_name && roast__is_blank(r->text.data[at]));
}

static size_t skip_blanks(const struct redactor *r, size_t at)
{
    while (at < r->text.size_bytes && roast__is_blank(r->text.data[at]))
        at++;
    return at;
}

static void put(struct redactor *r, const char *bytes, size_t size_bytes)
{
    size_t fit = size_bytes < r->left_bytes ? size_bytes : r->left_bytes;

    if (size_bytes == 0)
        return;
    memcpy(r->out, bytes, fit);
    r->out += fit;
    r->left_bytes -= fit;
    r->last = bytes[size_bytes - 1];
}

static void copy_to(struct redactor *r, size_t end)
{
    put(r, r->text.data + r->at, end - r->at);
    r->at = end;
}

static void put_mark(struct redactor *r)
{
    static const char digits[] = "0123456789abcdef";
    char mark[ROAST_NAME_MARK_BYTES] = {'~'};
    uint64_t hash = roast__keyed_hash(r->key, r->text);

    for (size_t i = 1; i < sizeof(mark); i++, hash >>= 4)
        mark[i] = digits[hash & 15];
    put(r, mark, sizeof(mark));
    r->is_marked = true;
}

/* Copies a mask; false: no mask here. Its mark is not part of a word. */
static bool copy_mask(struct redactor *r)
{
    size_t size = roast__mask_bytes(roast__str_from(r->text, r->at));

    copy_to(r, r->at + size);
    if (size > 0)
        r->last = '*';
    return size > 0;
}

/* Replaces the text up to `end` by a mask. */
static void mask_to(struct redactor *r, size_t end)
{
    size_t masked = roast__mask_bytes(part(r, r->at, end));

    if (masked > 0 && masked == end - r->at) {
        (void)copy_mask(r);
        return;
    }
    put(r, "***", 3);
    if (r->key && !r->is_marked)
        put_mark(r);
    r->at = end;
    r->last = '*';
}

/* ---- extents --------------------------------------------------------------------- */

/* A quote and the backslashes before it, as in JSON inside of JSON. */
struct quote {
    char c; /* 0: none */
    size_t slashes;
    size_t size; /* of all of it; a quote may be tripled */
};

static struct quote quote_at(const struct redactor *r, size_t at)
{
    struct quote quote = {0};

    while (char_at(r, at + quote.slashes) == '\\')
        quote.slashes++;
    quote.c = char_at(r, at + quote.slashes);
    if (!roast__is_quote(quote.c))
        return (struct quote){0};
    quote.size = quote.slashes + 1;
    if (quote.slashes == 0 && char_at(r, at + 1) == quote.c &&
        char_at(r, at + 2) == quote.c)
        quote.size = 3;
    return quote;
}

/* Where the closing quote begins, with its backslashes; the end without one. */
static size_t find_close(const struct redactor *r, size_t at, struct quote quote)
{
    size_t step = 2 * (quote.slashes + 1); /* slashes that stand for slashes */

    for (size_t slashes = 0; at < r->text.size_bytes; at++) {
        char c = r->text.data[at];
        if (c == '\\') {
            slashes++;
            continue;
        }
        if (c == quote.c && slashes < quote.slashes)
            return at - slashes; /* of a text around this one */
        if (c == quote.c && (slashes - quote.slashes) % step == 0)
            return at - quote.slashes;
        slashes = 0;
    }
    return r->text.size_bytes;
}

/* Past the bracket that closes the one here; the end if none does. */
static size_t find_bracket(const struct redactor *r, size_t at)
{
    size_t depth = 0;

    for (; at < r->text.size_bytes; at++) {
        char c = r->text.data[at];
        struct quote quote = {.c = c, .size = 1};
        if (roast__is_quote(c) && !roast__is_alnum(r->text.data[at - 1]))
            at = find_close(r, at + 1, quote);
        else if (c == '(' || c == '[' || c == '{')
            depth++;
        else if ((c == ')' || c == ']' || c == '}') && --depth == 0)
            return at + 1;
    }
    return r->text.size_bytes;
}

/* A region that ends at the blank in `-----BEGIN PRIVATE KEY` goes on to the end of the
 * key. */
static size_t with_pem(const struct redactor *r, size_t end)
{
    static const char begin[] = "-----BEGIN";
    size_t size = sizeof(begin) - 1;

    if (end < size || !starts_with(r, end - size, begin))
        return end;
    const char *close =
        memmem(r->text.data + end, r->text.size_bytes - end, "-----END", 8);
    if (!close)
        return r->text.size_bytes;
    size_t label = (size_t)(close - r->text.data) + 8;
    close = memmem(r->text.data + label, r->text.size_bytes - label, "-----", 5);
    return close ? (size_t)(close - r->text.data) + 5 : r->text.size_bytes;
}

/* The end of a value without quotes; one in it may have blanks: `a=1,b="two words"`. */
static size_t value_end(const struct redactor *r, size_t at)
{
    for (size_t from = at;; from = at) {
        for (; !ends_run(r, at); at++) {
            struct quote quote = {.c = r->text.data[at], .size = 1};
            if (roast__is_quote(quote.c) && at > from &&
                strchr("=:,([{", r->text.data[at - 1]))
                at = find_close(r, at + 1, quote);
            if (at >= r->text.size_bytes)
                return r->text.size_bytes;
        }
        size_t end = with_pem(r, at);
        if (end == at)
            return end;
        at = end;
    }
}

/* The same for values that may stay: they are short. */
static size_t near_end(const struct redactor *r, size_t from)
{
    size_t at = from;

    while (!ends_run(r, at) && at - from < LOOK_AHEAD)
        at++;
    return at;
}

static size_t line_end(const struct redactor *r, size_t at)
{
    while (at < r->text.size_bytes && (r->is_name || r->text.data[at] != '\n'))
        at++;
    return at;
}

/* Finds the run at this place and its last '@' before a host, once for each run. */
static void read_run(struct redactor *r)
{
    size_t at = r->at;

    if (at < r->run_end)
        return;
    r->run_at = SIZE_MAX;
    for (; !ends_run(r, at); at++) {
        char next = char_at(r, at + 1);
        if (r->text.data[at] == '@' && (roast__is_alnum(next) || next == '['))
            r->run_at = at;
    }
    r->run_end = at;
}

/* A token may begin inside of a word, after `_` or `-`. */
static bool mask_token(struct redactor *r, size_t end)
{
    for (size_t at = r->at; at < end; at++) {
        char before = at > r->at ? r->text.data[at - 1] : r->last;
        if (roast__is_alnum(before) || !roast__is_alnum(r->text.data[at]))
            continue;
        size_t size = roast__secret_token(roast__str_from(r->text, at));
        if (size > 0) {
            copy_to(r, at);
            mask_to(r, at + size);
            return true;
        }
    }
    return false;
}

/* ---- URLs ------------------------------------------------------------------------ */

/* Where a password begins in a host without '@'; `end`: no password. */
static size_t find_password(const struct redactor *r, size_t host, size_t end)
{
    size_t at = host;

    if (char_at(r, at) == '[') {
        while (at < end && r->text.data[at] != ']')
            at++;
    }
    while (at < end && r->text.data[at] != ':')
        at++;
    return at < end && !roast__is_port(part(r, at + 1, end)) ? at + 1 : end;
}

static size_t authority_end(const struct redactor *r, size_t at)
{
    while (at < r->run_end && !strchr("/?#", r->text.data[at]) &&
           !(r->text.data[at] == ':' && starts_with(r, at, "://")))
        at++;
    return at;
}

/* The last '@' before `end`, or `from`. */
static size_t last_at(const struct redactor *r, size_t from, size_t end)
{
    size_t found = from;

    for (size_t i = from; i < end; i++) {
        if (r->text.data[i] == '@')
            found = i;
    }
    return found;
}

/* Copies a URL from its "://" to the end of its host. A URL in the path of another, as
 * in caches, comes here again. A password may hold '/'. */
static void copy_authority(struct redactor *r)
{
    read_run(r);
    copy_to(r, r->at + 3);
    size_t end = authority_end(r, r->at);
    size_t user_end = last_at(r, r->at, end);
    bool has_user = char_at(r, user_end) == '@';
    size_t host = has_user ? user_end + 1 : r->at;
    bool is_odd = find_password(r, host, end) < end || (has_user && host == end);
    if (is_odd && r->run_at != SIZE_MAX && r->run_at >= end) {
        user_end = last_at(r, r->run_at, authority_end(r, r->run_at));
        has_user = true;
    }
    if (has_user && user_end > r->at)
        mask_to(r, user_end);
    end = authority_end(r, r->at);
    size_t password =
        find_password(r, char_at(r, r->at) == '@' ? r->at + 1 : r->at, end);
    if (password < end) {
        copy_to(r, password);
        mask_to(r, end);
    }
    r->url_end = r->run_end;
    if (!mask_token(r, end)) /* a webhook */
        copy_to(r, end);
}

/* `?name=...` after a file name, and in a URL all from `?` or `#` on. */
static bool mask_query(struct redactor *r)
{
    enum { LONGEST_NAME = 64 };
    size_t at = r->at + 1;

    read_run(r);
    if (r->at >= r->url_end) {
        if (r->text.data[r->at] == '#' ||
            !(roast__is_alnum(r->last) || strchr("_./*)]'\"", r->last)))
            return false;
        while (at <= r->at + LONGEST_NAME &&
               (roast__is_word(char_at(r, at)) || char_at(r, at) == '.' ||
                char_at(r, at) == '%'))
            at++;
        if (at == r->at + 1 || char_at(r, at) != '=')
            return false;
    }
    if (r->at + 1 >= r->run_end)
        return false;
    copy_to(r, r->at + 1);
    size_t end = with_pem(r, r->run_end);
    mask_to(r, end == r->run_end ? end : value_end(r, end));
    return true;
}

/* `user:password@host` without a scheme. */
static bool mask_login(struct redactor *r)
{
    bool has_letter = false;

    read_run(r);
    if (r->word_end != r->at || r->run_at == SIZE_MAX || r->run_at <= r->at + 1)
        return false;
    for (size_t i = r->word_from; i < r->word_end; i++)
        has_letter = has_letter || !roast__is_digit(r->text.data[i]);
    if (!has_letter ||
        (r->word_end - r->word_from == 6 && starts_with(r, r->word_from, "mailto")))
        return false;
    copy_to(r, r->at + 1);
    mask_to(r, r->run_at);
    return true;
}

/* ---- PEM ------------------------------------------------------------------------- */

/* The text between the lines of a private key. */
static bool mask_pem(struct redactor *r)
{
    enum { LONGEST_LABEL = 64 };
    size_t from = r->at + 11;
    size_t room = r->text.size_bytes;

    if (!starts_with(r, r->at, "-----BEGIN "))
        return false;
    if (room > from + LONGEST_LABEL)
        room = from + LONGEST_LABEL;
    const char *label = r->text.data + from;
    const char *dashes = memmem(label, room - from, "-----", 5);
    if (!dashes || !memmem(label, (size_t)(dashes - label), "PRIVATE KEY", 11))
        return false;
    copy_to(r, (size_t)(dashes - r->text.data) + 5);
    const char *end =
        memmem(r->text.data + r->at, r->text.size_bytes - r->at, "-----END", 8);
    size_t stop = end ? (size_t)(end - r->text.data) : r->text.size_bytes;
    if (stop > r->at)
        mask_to(r, stop);
    return true;
}

/* ---- names and values ------------------------------------------------------------ */

/* How a value follows its name. */
enum link { UNLINKED, BLANK, SIGN, CALL, LIST, TAG };

/* Past `=`, `:`, `==`, `=>`, `:=`, `!=`, `%3D`, `%3A`; the same place: none is here. */
static size_t skip_sign(const struct redactor *r, size_t at)
{
    for (;;) {
        char c = char_at(r, at);
        char third = roast__lower(char_at(r, at + 2));
        if (c == '=' || c == ':')
            at++;
        else if ((c == '>' && r->text.data[at - 1] == '=') ||
                 (c == '!' && char_at(r, at + 1) == '='))
            at++;
        else if (c == '%' && char_at(r, at + 1) == '3' &&
                 (third == 'd' || third == 'a'))
            at += 3;
        else
            return at;
    }
}

/* Up to two letters before a quote, as in b'text'. */
static size_t prefix_size(const struct redactor *r, size_t at)
{
    size_t size = 0;

    while (size < 2 && char_at(r, at + size) != '\0' &&
           strchr("bBuUrRfF", char_at(r, at + size)))
        size++;
    return roast__is_quote(char_at(r, at + size)) ? size : 0;
}

/* `|` of YAML: the value is in the next line. */
static size_t skip_block_sign(const struct redactor *r, size_t at)
{
    size_t end = at + 1;

    if (char_at(r, at) != '|' && char_at(r, at) != '>')
        return at;
    if (char_at(r, end) == '-' || char_at(r, end) == '+')
        end++;
    return char_at(r, end) == '\n' ? skip_blanks(r, end) : at;
}

/* Where the value of the name before this place begins. */
static enum link find_value(const struct redactor *r, size_t *value, bool in_tag)
{
    struct quote quote = quote_at(r, r->at);
    size_t at = r->at + (quote.c ? quote.slashes + 1 : 0);

    *value = r->at + 1;
    if (char_at(r, r->at) == '(')
        return CALL;
    if (in_tag && char_at(r, r->at) == '>')
        return TAG;
    while (quote.c && char_at(r, at) == ']')
        at++;
    size_t next = skip_blanks(r, at);
    size_t past = skip_sign(r, next);
    if (past > next && !starts_with(r, past - 1, "://")) {
        *value = skip_block_sign(r, skip_blanks(r, past));
        return SIGN;
    }
    if (past > next)
        return UNLINKED;
    *value = skip_blanks(r, next + 1);
    if (quote.c && char_at(r, next) == ',' &&
        quote_at(r, *value + prefix_size(r, *value)).c)
        return LIST;
    *value = next;
    return !quote.c && next > at ? BLANK : UNLINKED;
}

/* Copies `user:` and masks the rest. False: not a pair. */
static bool mask_pair(struct redactor *r, size_t end)
{
    size_t at = r->at;

    while (at < end && at - r->at < LOOK_AHEAD && !strchr(":%", r->text.data[at]))
        at++;
    if (at + 1 >= end || at - r->at == LOOK_AHEAD)
        return false;
    copy_to(r, at + 1);
    mask_to(r, end);
    return true;
}

static void mask_value(struct redactor *r, enum roast_secret secret, size_t end)
{
    if (secret == ROAST_SECRET_PAIR)
        (void)mask_pair(r, end);
    else
        mask_to(r, end);
}

/* Masks a value without quotes. True if another value follows. */
static bool mask_run(struct redactor *r, enum roast_secret secret, enum link link)
{
    char c = char_at(r, r->at);
    size_t from = r->at;
    size_t near = near_end(r, from);

    if (secret == ROAST_SECRET_LINE && link != BLANK) {
        mask_to(r, line_end(r, from));
        return false;
    }
    if ((near - from < LOOK_AHEAD || secret == ROAST_SECRET_TEXT) &&
        roast__value_is_plain(secret, part(r, from, near), link == BLANK))
        return false;
    if (secret == ROAST_SECRET_PAIR && !memchr(r->text.data + from, ':', near - from) &&
        !memchr(r->text.data + from, '%', near - from))
        return false;
    size_t end = value_end(r, from);
    if (link != BLANK && (c == '(' || c == '[' || c == '{'))
        end = value_end(r, find_bracket(r, from));
    bool more = roast__names_another(part(r, from, end));
    mask_value(r, secret, end);
    size_t next = skip_blanks(r, r->at);
    if (char_at(r, next) == '=') { /* the value was a type: `password: str = "x"` */
        next = skip_blanks(r, skip_sign(r, next));
        more = true;
    }
    if (more)
        copy_to(r, next);
    return more;
}

/* Masks the value here unless it is plain. True if another one follows. */
static bool mask_one(struct redactor *r, enum roast_secret secret, enum link link)
{
    if (r->at >= r->text.size_bytes || mask_pem(r))
        return false;
    size_t prefix = prefix_size(r, r->at);
    struct quote quote = quote_at(r, r->at + prefix);
    if (!quote.c)
        return mask_run(r, secret, link);
    size_t from = r->at + prefix + quote.size;
    size_t close = find_close(r, from, quote);
    copy_to(r, from);
    if (!roast__value_is_plain(secret, part(r, from, close), false))
        mask_value(r, secret, close);
    return false;
}

static void mask_between(struct redactor *r, enum roast_secret secret, size_t end)
{
    if (end > r->at && !roast__value_is_plain(secret, part(r, r->at, end), false))
        mask_to(r, end);
}

/* Copies what is between a name and its value, and masks the value. */
static void mask_after(struct redactor *r, enum roast_secret secret, bool in_tag)
{
    size_t value = r->at;
    enum link link = find_value(r, &value, in_tag);

    if (link == UNLINKED)
        return;
    if (link == BLANK &&
        (starts_with(r, value, "is ") || starts_with(r, value, "was "))) {
        value = skip_blanks(r, value + 3);
        secret = secret == ROAST_SECRET_WORD ? ROAST_SECRET_ANY : secret;
    }
    if (link == CALL && (secret == ROAST_SECRET_TEXT || secret == ROAST_SECRET_LONG))
        return;
    if (link == CALL && secret == ROAST_SECRET_PATH && /* seen from its beginning */
        roast__value_is_plain(secret, part(r, value, near_end(r, value)), false))
        return;
    if (link == CALL) {
        size_t close = find_bracket(r, r->at);
        copy_to(r, value);
        mask_between(r, secret,
                     strchr(")]}", r->text.data[close - 1]) ? close - 1 : close);
        return;
    }
    copy_to(r, value);
    if (link == TAG) {
        const char *end = memchr(r->text.data + value, '<', r->text.size_bytes - value);
        mask_between(r, secret,
                     end ? (size_t)(end - r->text.data) : r->text.size_bytes);
        return;
    }
    if (link == BLANK && secret == ROAST_SECRET_LINE)
        secret = ROAST_SECRET_ANY; /* `<Cookie name=value for host/>` */
    while (mask_one(r, secret, link)) {
        secret = secret == ROAST_SECRET_LINE ? secret : ROAST_SECRET_NEXT;
        link = SIGN;
    }
}

/* What the word means for what follows it. `before` is the character before it. */
static enum roast_secret meaning(const struct redactor *r, size_t from, size_t end,
                                 char before)
{
    struct roast_str word = part(r, from, end);
    enum roast_secret secret;

    if (word.data[0] == '-' &&
        (roast__is_blank(before) || strchr("'\"`[(,=", before))) {
        secret = roast__secret_option(word);
        if (secret == ROAST_SECRET_ANY && char_at(r, end) == ':')
            return ROAST_SECRET_LINE; /* argument --token: invalid value: ... */
        return secret == ROAST_SECRET_ANY ? ROAST_SECRET_NEXT : secret;
    }
    bool is_key = word.size_bytes == 3 && roast__is_key(word);
    if (is_key && r->word_end > r->word_from && from == r->word_end + 1 &&
        (before == ' ' || before == '.')) /* API key, secret.key */
        word = part(r, r->word_from, end);
    secret = roast__secret_name(word);
    bool in_query = before == '&' && char_at(r, end) == '=';
    return secret != ROAST_SECRET_NONE && in_query ? ROAST_SECRET_NEXT : secret;
}

static void copy_word(struct redactor *r)
{
    size_t from = r->at;
    size_t end = from;
    char before = r->last;

    do
        end++;
    while (end < r->text.size_bytes && roast__is_word(r->text.data[end]) &&
           !(r->text.data[end] == '-' && starts_with(r, end, "-----BEGIN ")));
    if (mask_token(r, end))
        return;
    char next = char_at(r, end);
    bool may_name = end < r->text.size_bytes &&
                    (roast__is_blank(next) || strchr("=:'\"`\\(>%,!", next));
    enum roast_secret secret =
        may_name ? meaning(r, from, end, before) : ROAST_SECRET_NONE;
    copy_to(r, end);
    r->word_from = from;
    r->word_end = end;
    if (secret != ROAST_SECRET_NONE)
        mask_after(r, secret, before == '<');
}

/* ---- whole texts ----------------------------------------------------------------- */

static size_t redact(struct redactor *r)
{
    size_t room = r->left_bytes;

    r->last = ' ';
    while (r->at < r->text.size_bytes && r->left_bytes > 0) {
        char c = r->text.data[r->at];
        if ((c == '-' && mask_pem(r)) || (c == '*' && copy_mask(r)))
            continue;
        if (roast__is_word(c))
            copy_word(r);
        else if (c == ':' && starts_with(r, r->at, "://"))
            copy_authority(r);
        else if (!(c == ':' && mask_login(r)) &&
                 !((c == '?' || c == '#') && mask_query(r)))
            copy_to(r, r->at + 1);
    }
    return room - r->left_bytes;
}

size_t roast_str_redact(char *out, size_t out_bytes, struct roast_str text)
{
    struct redactor r = {.text = text, .out = out, .left_bytes = out_bytes};

    return redact(&r);
}

size_t roast_str_redact_name(char *out, size_t out_bytes, struct roast_str name,
                             const unsigned char key[ROAST_NAME_KEY_BYTES])
{
    struct redactor r = {
        .text = name, .out = out, .left_bytes = out_bytes, .is_name = true, .key = key};

    return redact(&r);
}

size_t roast_str_redact_argument(struct roast_redact_arguments *state, char *out,
                                 size_t out_bytes, struct roast_str argument)
{
    struct redactor r = {
        .text = argument, .out = out, .left_bytes = out_bytes, .is_name = true};
    enum roast_secret expects = (enum roast_secret)state->expects;
    bool is_option = argument.size_bytes > 1 && argument.data[0] == '-';

    state->expects = ROAST_SECRET_NONE;
    if (expects != ROAST_SECRET_NONE && !is_option && argument.size_bytes > 0) {
        if (!roast__value_is_plain(expects, argument, false))
            mask_value(&r, expects, argument.size_bytes);
        copy_to(&r, argument.size_bytes);
        return out_bytes - r.left_bytes;
    }
    if (is_option && !memchr(argument.data, '=', argument.size_bytes))
        state->expects = (int)roast__secret_option(argument);
    return redact(&r);
}
