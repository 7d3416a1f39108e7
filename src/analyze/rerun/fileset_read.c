/* SPDX-License-Identifier: BSD-3-Clause */
/* fileset_read.c - the fileset that a user gave to the Runner, from its JSON.
 *
 *     {dataset: [file, ...]}
 *     {dataset: {"files": [file, ...] or {file: tree}, "treename": tree, ...}}
 *
 * One function per level, so nothing recurses; values that we have no use for are copied
 * as they are: metadata and preload belong to the dataset when it is run again. */
#include <string.h>

#include "analyze/rerun/fileset.h"
#include "base/str.h"
#include "collect/json_walk.h"
#include "roast/json_write.h"

struct reading {
    struct roast_fileset *fileset;
    struct roast_json_reader json;
    struct roast_json_token token;
    struct roast_str rest; /* of the input */
    struct roast_fileset_text dataset;
    struct roast_buf members; /* what the dataset has beside its files */
    struct roast_buf name;
    roast_error *err;
};

static int64_t read_piece(void *context, void *out, size_t out_bytes)
{
    struct roast_str *rest = context;
    size_t size = rest->size_bytes < out_bytes ? rest->size_bytes : out_bytes;

    memcpy(out, rest->data, size);
    rest->data += size;
    rest->size_bytes -= size;
    return (int64_t)size;
}

static void put_bytes(void *context, const void *bytes, size_t size_bytes)
{
    roast__buf_put(context, bytes, size_bytes);
}

static int next(struct reading *in)
{
    int got = roast__json_next(&in->json, &in->token, in->err);

    return got == 0 ? roast_error_set(in->err, ROAST_BAD_DATA, "a fileset ends early")
                    : got;
}

static int refuse(const struct reading *in, const char *what)
{
    return roast_error_set(in->err, ROAST_BAD_DATA, "a fileset: %s", what);
}

/* ---- values that are copied or left away ---------------------------------------- */

static void put_scalar(struct roast_json *json, const struct roast_json_token *token)
{
    switch (token->kind) {
    case ROAST_JSON_TEXT:
        roast_json_text(json, token->text);
        break;
    case ROAST_JSON_TRUE:
    case ROAST_JSON_FALSE:
        roast_json_bool(json, token->kind == ROAST_JSON_TRUE);
        break;
    case ROAST_JSON_INT:
    case ROAST_JSON_BIG:
        roast_json_made(json, token->text);
        break;
    case ROAST_JSON_DOUBLE:
        roast_json_number(json, token->number);
        break;
    default:
        roast_json_null(json);
    }
}

/* Writes the value that begins with the token at hand. */
static int copy_value(struct reading *in, struct roast_json *json)
{
    unsigned depth = 0;

    for (;;) {
        enum roast_json_kind kind = in->token.kind;
        bool ends = kind == ROAST_JSON_LIST_END || kind == ROAST_JSON_DICT_END;
        if (kind == ROAST_JSON_KEY)
            roast_json_key(json, in->token.text);
        else if (kind == ROAST_JSON_LIST || kind == ROAST_JSON_DICT)
            roast_json_open(json, kind == ROAST_JSON_LIST ? '[' : '{');
        else if (ends)
            roast_json_close(json, kind == ROAST_JSON_LIST_END ? ']' : '}');
        else
            put_scalar(json, &in->token);
        depth += kind == ROAST_JSON_LIST || kind == ROAST_JSON_DICT;
        depth -= ends;
        if (depth == 0)
            return 1;
        int got = next(in);
        if (got < 0)
            return got;
    }
}

static int skip_value(struct reading *in)
{
    int status = roast__json_skip(&in->json, &in->token, in->err);

    return status < 0 ? status : 1;
}

/* ---- files -------------------------------------------------------------------- */

/* Keeps a name without credentials in in->name, until the next one. */
static struct roast_str clean_name(struct reading *in, struct roast_str file)
{
    size_t room = file.size_bytes + 16;

    roast__buf_clear(&in->name);
    roast__buf_reserve(&in->name, room);
    if (!roast__buf_ok(&in->name)) {
        in->fileset->failed = true;
        return (struct roast_str){"", 0};
    }
    char *out = (char *)in->name.data;
    return (struct roast_str){out, roast_str_redact_file(out, room, file)};
}

static void add_file(struct reading *in, struct roast_str file, struct roast_str tree)
{
    roast__fileset_add(in->fileset, in->dataset, file, tree);
}

static int read_list(struct reading *in)
{
    const struct roast_str no_tree = {NULL, 0};
    int got;

    while ((got = next(in)) == 1 && in->token.kind == ROAST_JSON_TEXT)
        add_file(in, clean_name(in, in->token.text), no_tree);
    if (got == 1 && in->token.kind != ROAST_JSON_LIST_END)
        return refuse(in, "a file that is no text");
    return got;
}

/* The tree of a file: its name, or {"object_path": name, ...}. */
static int read_tree(struct reading *in, struct roast_str file)
{
    struct roast_str tree = {NULL, 0};
    int got;

    if (in->token.kind == ROAST_JSON_TEXT)
        tree = in->token.text;
    if (in->token.kind != ROAST_JSON_DICT) {
        add_file(in, file, tree);
        return skip_value(in);
    }
    while ((got = next(in)) == 1 && in->token.kind == ROAST_JSON_KEY) {
        bool is_path = roast__str_is(in->token.text, "object_path");
        got = next(in);
        if (got == 1 && is_path && in->token.kind == ROAST_JSON_TEXT) {
            add_file(in, file, in->token.text);
            file.data = NULL; /* once */
        }
        got = got == 1 ? skip_value(in) : got;
        if (got < 0)
            return got;
    }
    if (got == 1 && file.data)
        add_file(in, file, tree);
    return got;
}

static int read_files_by_name(struct reading *in)
{
    int got;

    while ((got = next(in)) == 1 && in->token.kind == ROAST_JSON_KEY) {
        struct roast_str file = clean_name(in, in->token.text);
        got = next(in);
        got = got == 1 ? read_tree(in, file) : got;
        if (got < 0)
            break;
    }
    return got;
}

static int read_files(struct reading *in)
{
    if (in->token.kind == ROAST_JSON_LIST)
        return read_list(in);
    if (in->token.kind == ROAST_JSON_DICT)
        return read_files_by_name(in);
    return refuse(in, "files that are neither a list nor a dict");
}

/* ---- datasets ----------------------------------------------------------------- */

static bool is_key(const struct roast_json_token *token, const char *name)
{
    return roast__str_is(token->text, name);
}

/* The tree of a dataset is that of all its files. */
static void set_tree(struct reading *in, size_t first, struct roast_fileset_text tree)
{
    for (size_t i = first; tree.at != 0 && i < in->fileset->count; i++)
        in->fileset->files[i].tree = tree;
}

static int read_member(struct reading *in, struct roast_json *members,
                       struct roast_fileset_text *tree)
{
    bool is_files = is_key(&in->token, "files");
    bool is_tree = is_key(&in->token, "treename");

    if (!is_files && !is_tree)
        roast_json_key(members, in->token.text);
    int got = next(in);
    if (got < 0 || is_files)
        return got < 0 ? got : read_files(in);
    if (is_tree && in->token.kind == ROAST_JSON_TEXT)
        *tree = roast__fileset_keep(in->fileset, in->token.text);
    return is_tree ? skip_value(in) : copy_value(in, members);
}

static int read_members(struct reading *in)
{
    struct roast_json members = {.put = put_bytes, .context = &in->members};
    struct roast_fileset_text tree = {0};
    size_t first = in->fileset->count;
    int got;

    roast__buf_clear(&in->members);
    while ((got = next(in)) == 1 && in->token.kind == ROAST_JSON_KEY) {
        got = read_member(in, &members, &tree);
        if (got < 0)
            return got;
    }
    set_tree(in, first, tree);
    if (!roast__buf_ok(&in->members))
        in->fileset->failed = true;
    else if (in->members.size_bytes > 0)
        roast__fileset_add_rest(
            in->fileset, in->dataset,
            (struct roast_str){(const char *)in->members.data, in->members.size_bytes});
    return got;
}

static int read_datasets(struct reading *in)
{
    int got = next(in);

    if (got == 1 && in->token.kind != ROAST_JSON_DICT)
        return refuse(in, "no dict of datasets");
    while (got == 1 && (got = next(in)) == 1 && in->token.kind == ROAST_JSON_KEY) {
        in->dataset = roast__fileset_keep(in->fileset, in->token.text);
        got = next(in);
        if (got == 1)
            got = in->token.kind == ROAST_JSON_DICT ? read_members(in) : read_files(in);
        if (in->fileset->failed)
            return roast_error_set(in->err, ROAST_NO_MEMORY, "a fileset");
    }
    return got < 0 ? got : ROAST_OK;
}

int roast__fileset_read(struct roast_fileset *fileset, struct roast_str json,
                        roast_error *err)
{
    struct reading in = {.fileset = fileset, .rest = json, .err = err};
    const struct roast_json_source source = {read_piece, &in.rest};
    int status = roast__json_open(&in.json, source, "fileset", true, err);

    if (status == ROAST_OK)
        status = read_datasets(&in);
    roast__json_release(&in.json);
    roast__buf_release(&in.members);
    roast__buf_release(&in.name);
    return status;
}
