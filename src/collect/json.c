/* SPDX-License-Identifier: BSD-3-Clause */
/* json.c - JSON read token by token: structure and numbers; texts are in json_text.c.
 *
 * What may come next is a state, what is open a stack of bits: neither depends on the
 * input for memory. */
#include "collect/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "collect/json_bytes.h"
#include "collect/json_number.h"

enum state {
    VALUE,
    FIRST_ITEM, /* or the end of the list */
    FIRST_KEY,  /* or the end of the dict */
    COMMA,      /* or the end of either */
    BEHIND,
};

enum { PIECE_BYTES = 16 * 1024, LONGEST_NUMBER_BYTES = 4096 };

/* ---- bytes ----------------------------------------------------------------------- */

bool roast__json_fill(struct roast_json_reader *in)
{
    if (in->ended)
        return false;
    int64_t got = in->source.read(in->source.context, in->piece, PIECE_BYTES);
    in->piece_offset += in->end;
    in->at = 0;
    in->end = got > 0 ? (size_t)got : 0;
    in->ended = got <= 0;
    in->unreadable = got < 0;
    return got > 0;
}

static uint64_t offset_of(const struct roast_json_reader *in)
{
    return in->piece_offset + in->at;
}

int roast__json_refuse(const struct roast_json_reader *in, int status, const char *what,
                       roast_error *err)
{
    if (in->unreadable) {
        status = ROAST_IO;
        what = "it could not be read on";
    }
    return roast_error_set(err, status,
                           "%.100s: byte %" PRIu64 ": line %" PRIu64 ": %s", in->name,
                           offset_of(in), in->line, what);
}

static int bad(const struct roast_json_reader *in, const char *what, roast_error *err)
{
    return roast__json_refuse(in, ROAST_BAD_DATA, what, err);
}

/* The next byte that is no blank; -1 at the end. */
static int skip_blank(struct roast_json_reader *in)
{
    int c = roast__json_here(in);

    while (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        in->line += c == '\n';
        in->at++;
        c = roast__json_here(in);
    }
    return c;
}

/* ---- numbers and words ----------------------------------------------------------- */

static void take(struct roast_json_reader *in)
{
    roast__json_room(&in->text, 1);
    if (roast__buf_ok(&in->text))
        in->text.data[in->text.size_bytes++] = in->piece[in->at];
    in->at++;
}

static bool take_digits(struct roast_json_reader *in)
{
    int c = roast__json_here(in);
    bool any = c >= '0' && c <= '9';

    for (; c >= '0' && c <= '9' && in->text.size_bytes < LONGEST_NUMBER_BYTES;
         c = roast__json_here(in))
        take(in);
    return any;
}

/* -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)? */
static bool take_number(struct roast_json_reader *in)
{
    if (roast__json_here(in) == '-')
        take(in);
    if (roast__json_here(in) == '0')
        take(in);
    else if (!take_digits(in))
        return false;
    if (roast__json_here(in) == '.') {
        take(in);
        if (!take_digits(in))
            return false;
    }
    int c = roast__json_here(in);
    if (c != 'e' && c != 'E')
        return true;
    take(in);
    c = roast__json_here(in);
    if (c == '+' || c == '-')
        take(in);
    return take_digits(in);
}

/* Takes the rest of a word; false if it is another one. */
static bool take_word(struct roast_json_reader *in, const char *word)
{
    for (; *word; word++) {
        if (roast__json_here(in) != (unsigned char)*word)
            return false;
        in->at++;
    }
    return true;
}

static int read_nonfinite(struct roast_json_reader *in, struct roast_json_token *token,
                          double value, roast_error *err)
{
    const char *word = isnan(value) ? "NaN" : "Infinity";

    if (!in->lax || !take_word(in, word))
        return bad(in, "expected a value (NaN and Infinity are none)", err);
    token->kind = ROAST_JSON_DOUBLE;
    token->number = value;
    token->text = roast_str_of(isnan(value) ? "NaN" : value < 0 ? "-Infinity" : word);
    return 1;
}

static int read_number(struct roast_json_reader *in, struct roast_json_token *token,
                       roast_error *err)
{
    roast__buf_clear(&in->text);
    bool is_number = take_number(in);
    if (!is_number && in->text.size_bytes == 1 && roast__json_here(in) == 'I')
        return read_nonfinite(in, token, -(double)INFINITY, err);
    if (!is_number)
        return bad(in, "a number ends too early", err);
    if (in->text.size_bytes >= LONGEST_NUMBER_BYTES)
        return roast__json_refuse(in, ROAST_LIMIT, "a number over 4096 bytes", err);
    roast__buf_put(&in->text, "", 1);
    if (!roast__buf_ok(&in->text))
        return roast_error_set(err, ROAST_NO_MEMORY, "a number");
    const char *text = (const char *)in->text.data;
    struct roast_json_number number = roast__json_number(text);
    if (!in->lax && number.is_whole && !number.fits)
        return bad(in, "a whole number that 64 bits do not hold", err);
    if (!in->lax && isinf(number.nearest))
        return bad(in, "a number past the largest double", err);
    token->kind = ROAST_JSON_DOUBLE;
    if (number.is_whole)
        token->kind = number.fits ? ROAST_JSON_INT : ROAST_JSON_BIG;
    token->negative = number.negative && number.size > 0;
    token->size = number.size;
    token->number = number.nearest;
    token->text = (struct roast_str){text, in->text.size_bytes - 1};
    return 1;
}

static int read_word(struct roast_json_reader *in, struct roast_json_token *token,
                     roast_error *err)
{
    static const struct {
        const char *word;
        enum roast_json_kind kind;
    } words[] = {
        {"null", ROAST_JSON_NULL},
        {"false", ROAST_JSON_FALSE},
        {"true", ROAST_JSON_TRUE},
    };
    int c = roast__json_here(in);

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (c != words[i].word[0])
            continue;
        token->kind = words[i].kind;
        return take_word(in, words[i].word) ? 1 : bad(in, "an unknown word", err);
    }
    if (c == 'N' || c == 'I')
        return read_nonfinite(in, token, c == 'N' ? (double)NAN : (double)INFINITY,
                              err);
    return bad(in, c < 0 ? "it ends too early" : "expected a value", err);
}

/* ---- structure ------------------------------------------------------------------- */

static int open_container(struct roast_json_reader *in, struct roast_json_token *token,
                          bool is_dict, roast_error *err)
{
    if (in->depth == ROAST_JSON_MAX_DEPTH)
        return roast__json_refuse(in, ROAST_LIMIT, "nested over 64 deep", err);
    in->at++;
    in->is_dict[in->depth++] = is_dict;
    in->state = is_dict ? FIRST_KEY : FIRST_ITEM;
    token->kind = is_dict ? ROAST_JSON_DICT : ROAST_JSON_LIST;
    return 1;
}

static int close_container(struct roast_json_reader *in, struct roast_json_token *token)
{
    in->at++;
    token->kind = in->is_dict[--in->depth] ? ROAST_JSON_DICT_END : ROAST_JSON_LIST_END;
    in->state = in->depth > 0 ? COMMA : BEHIND;
    return 1;
}

static int read_key(struct roast_json_reader *in, struct roast_json_token *token,
                    roast_error *err)
{
    if (roast__json_here(in) != '"')
        return bad(in, "expected a key in double quotes", err);
    int status = roast__json_text(in, &in->key, err);
    if (status < 0)
        return status;
    if (skip_blank(in) != ':')
        return bad(in, "expected ':' behind a key", err);
    in->at++;
    in->state = VALUE;
    token->kind = ROAST_JSON_KEY;
    token->text = (struct roast_str){(const char *)in->key.data, in->key.size_bytes};
    return 1;
}

static int read_value(struct roast_json_reader *in, struct roast_json_token *token,
                      roast_error *err)
{
    int c = roast__json_here(in);

    if (c == '{' || c == '[')
        return open_container(in, token, c == '{', err);
    in->state = in->depth > 0 ? COMMA : BEHIND;
    if (c == '-' || (c >= '0' && c <= '9'))
        return read_number(in, token, err);
    if (c != '"')
        return read_word(in, token, err);
    int status = roast__json_text(in, &in->text, err);
    token->kind = ROAST_JSON_TEXT;
    token->text = (struct roast_str){(const char *)in->text.data, in->text.size_bytes};
    return status < 0 ? status : 1;
}

/* Behind an item of a container: its end, or a comma and what follows it. */
static int read_behind_item(struct roast_json_reader *in,
                            struct roast_json_token *token, roast_error *err)
{
    bool is_dict = in->is_dict[in->depth - 1];
    int c = roast__json_here(in);

    if (c == (is_dict ? '}' : ']'))
        return close_container(in, token);
    if (c != ',')
        return bad(in, c < 0 ? "it ends too early" : "expected ',' or an end", err);
    in->at++;
    (void)skip_blank(in);
    return is_dict ? read_key(in, token, err) : read_value(in, token, err);
}

int roast__json_next(struct roast_json_reader *in, struct roast_json_token *token,
                     roast_error *err)
{
    int c = skip_blank(in);

    *token = (struct roast_json_token){.kind = ROAST_JSON_NULL};
    switch ((enum state)in->state) {
    case FIRST_ITEM:
        return c == ']' ? close_container(in, token) : read_value(in, token, err);
    case FIRST_KEY:
        return c == '}' ? close_container(in, token) : read_key(in, token, err);
    case COMMA:
        return read_behind_item(in, token, err);
    case BEHIND:
        if (c >= 0)
            return bad(in, "something follows the document", err);
        return in->unreadable ? bad(in, "", err) : 0;
    case VALUE:
        break;
    }
    return read_value(in, token, err);
}

/* ---- life ------------------------------------------------------------------------ */

int roast__json_open(struct roast_json_reader *in, struct roast_json_source source,
                     const char *name, bool lax, roast_error *err)
{
    memset(in, 0, sizeof(*in));
    in->source = source;
    in->name = name;
    in->lax = lax;
    in->line = 1;
    in->state = VALUE;
    in->piece = roast__realloc(NULL, PIECE_BYTES);
    if (!in->piece)
        return roast_error_set(err, ROAST_NO_MEMORY, "reading %.100s", name);
    return ROAST_OK;
}

void roast__json_release(struct roast_json_reader *in)
{
    roast__free(in->piece);
    roast__buf_release(&in->key);
    roast__buf_release(&in->text);
    memset(in, 0, sizeof(*in));
}
