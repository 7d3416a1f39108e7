/* SPDX-License-Identifier: BSD-3-Clause */
/* fileset_read.c - reads the fileset of the user from the note `N given`.
 *
 * Python writes it (coffea/fileset.py), one line per item, fields separated by tabs:
 *
 *     dataset  NAME
 *     other    JSON members, such as "metadata":{"xsec":1.5}
 *     file     NAME  [TREE]
 *
 * Names have no control characters. The members are copied when the dataset is run
 * again. */
#include <string.h>

#include "analyze/rerun/fileset.h"
#include "base/str.h"

enum { MAX_DEPTH = 64 };

struct roast_str roast__fileset_next(struct roast_str *rest, char mark)
{
    struct roast_str part = *rest;
    const char *end =
        part.size_bytes > 0 ? memchr(part.data, mark, part.size_bytes) : NULL;

    *rest = (struct roast_str){NULL, 0};
    if (end) {
        size_t taken = (size_t)(end - part.data);
        *rest = (struct roast_str){end + 1, part.size_bytes - taken - 1};
        part.size_bytes = taken;
    }
    return part;
}

bool roast__fileset_is_closed(struct roast_str members)
{
    unsigned depth = 0;
    bool quoted = false;
    bool escaped = false;

    for (size_t i = 0; i < members.size_bytes; i++) {
        char c = members.data[i];
        if (c < 0x20 || c > 0x7e || depth > MAX_DEPTH)
            return false;
        if (escaped)
            escaped = false;
        else if (c == '"')
            quoted = !quoted;
        else if (quoted)
            escaped = c == '\\';
        else if (c == '[' || c == '{')
            depth++;
        else if ((c == ']' || c == '}') && depth-- == 0)
            return false;
    }
    return !quoted && depth == 0;
}

int roast__fileset_read(struct roast_fileset *fileset, struct roast_str text,
                        roast_error *err)
{
    struct roast_fileset_text dataset = {0};

    while (text.data) {
        struct roast_str line = roast__fileset_next(&text, '\n');
        struct roast_str kind = roast__fileset_next(&line, '\t');
        if (roast__str_is(kind, "other") && roast__fileset_is_closed(line)) {
            roast__fileset_add_other(fileset, dataset, line);
            continue;
        }
        struct roast_str name = roast__fileset_next(&line, '\t');
        if (name.data && roast__str_is(kind, "dataset"))
            dataset = roast__fileset_keep(fileset, name);
        else if (name.data && dataset.at != 0 && roast__str_is(kind, "file"))
            roast__fileset_add(fileset, dataset, name, line);
        else
            return roast_error_set(err, ROAST_BAD_DATA, "a line of a fileset");
        if (fileset->failed)
            return roast_error_set(err, ROAST_NO_MEMORY, "a fileset");
    }
    return ROAST_OK;
}
