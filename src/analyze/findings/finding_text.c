/* SPDX-License-Identifier: BSD-3-Clause */
/* finding_text.c - texts of findings: patterns with named placeholders.
 *
 * File names come from data: they are cut here, and escaped by the code that shows
 * them. */
#include "analyze/findings/finding_text.h"

#include <assert.h>
#include <stdio.h>

#include "roast/number.h"

enum { MOST_NAME_BYTES = 120, MOST_LIST_BYTES = 160, MOST_FOLDER_BYTES = 40 };

/* ---- placeholders ---------------------------------------------------------------- */

/* Returns the text of a new placeholder, empty, of ROAST_PLACEHOLDER_BYTES. */
static char *add_placeholder(struct roast_finding *finding, const char *name)
{
    assert(finding->placeholder_count < ROAST_PLACEHOLDERS);
    struct roast_placeholder *added =
        &finding->placeholders[finding->placeholder_count++];

    added->name = name;
    added->text[0] = '\0';
    return added->text;
}

void roast__set_number(struct roast_finding *finding, const char *name, double value,
                       const char *unit)
{
    char *out = add_placeholder(finding, name);

    if (isfinite(value))
        (void)roast_format_number(out, value, unit);
}

/* Appends a text; control characters become spaces. */
static void append(char *out, struct roast_str text)
{
    out += strlen(out);
    for (size_t i = 0; i < text.size_bytes; i++)
        *out++ = (unsigned char)text.data[i] < ' ' ? ' ' : text.data[i];
    *out = '\0';
}

void roast__set_text(struct roast_finding *finding, const char *name,
                     struct roast_str text)
{
    char *out = add_placeholder(finding, name);
    struct roast_str cut = roast_str_cut(text, MOST_NAME_BYTES);

    append(out, cut);
    if (cut.size_bytes < text.size_bytes)
        append(out, roast_str_of("..."));
}

void roast__set_file(struct roast_finding *finding, const char *name,
                     struct roast_str file)
{
    if (file.size_bytes <= MOST_NAME_BYTES) {
        roast__set_text(finding, name, file);
        return;
    }
    char *out = add_placeholder(finding, name);
    size_t end = file.size_bytes - (MOST_NAME_BYTES - MOST_FOLDER_BYTES);
    while (end < file.size_bytes && ((unsigned char)file.data[end] & 0xC0) == 0x80)
        end++; /* do not cut inside a UTF-8 character */
    append(out, roast_str_cut(file, MOST_FOLDER_BYTES));
    append(out, roast_str_of("..."));
    append(out, (struct roast_str){file.data + end, file.size_bytes - end});
}

void roast__set_count(struct roast_finding *finding, const char *name, double count,
                      const char *noun)
{
    char *out = add_placeholder(finding, name);

    if (isfinite(count))
        (void)snprintf(out, ROAST_PLACEHOLDER_BYTES, "%s %s%s",
                       roast_number(count, "").text, noun, count == 1 ? "" : "s");
}

void roast__set_integer(struct roast_finding *finding, const char *name, double value)
{
    char *out = add_placeholder(finding, name);
    char digits[32];

    if (!(value >= 0 && value < 1e15))
        return;
    size_t count = (size_t)snprintf(digits, sizeof(digits), "%.0f", value);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            *out++ = '_';
        *out++ = digits[i];
    }
    *out = '\0';
}

void roast__set_memory_limit(struct roast_finding *finding, const char *name,
                             double bytes)
{
    char *out = add_placeholder(finding, name);
    bool large = bytes >= 1e9;

    if (bytes > 0 && bytes < 1e18)
        (void)snprintf(out, ROAST_PLACEHOLDER_BYTES, "'%.0f%s'",
                       ceil(bytes / (large ? 1e9 : 1e6)), large ? "GB" : "MB");
}

void roast__set_from_pattern(struct roast_finding *finding, const char *name,
                             const char *pattern)
{
    char text[ROAST_FINDING_TEXT_BYTES];
    size_t size = roast__fill_pattern(text, pattern, finding);

    assert(size < ROAST_PLACEHOLDER_BYTES);
    (void)snprintf(add_placeholder(finding, name), ROAST_PLACEHOLDER_BYTES, "%.*s",
                   (int)size, text);
}

void roast__set_preload(const struct roast_rule_input *input,
                        struct roast_finding *finding, const char *name)
{
    const roast_table *table = input->ctx->summary->tables[ROAST_TABLE_preload];
    size_t count = roast_table_rows(table), row = 0, used = 1;

    if (count == 0)
        return;
    char *out = add_placeholder(finding, name);
    out[0] = '[';
    for (; row < count; row++) {
        struct roast_str branch =
            roast_table_text(table, row, ROAST_COL_preload_branch);
        if (used + branch.size_bytes + 4 > MOST_LIST_BYTES)
            break;
        used +=
            (size_t)snprintf(out + used, ROAST_PLACEHOLDER_BYTES - used, "%s'%.*s'",
                             row > 0 ? ", " : "", (int)branch.size_bytes, branch.data);
    }
    if (row < count)
        (void)snprintf(out + used, ROAST_PLACEHOLDER_BYTES - used,
                       "%s...] (all %zu: get_metrics()['preload'])",
                       row > 0 ? ", " : "", count);
    else
        (void)snprintf(out + used, ROAST_PLACEHOLDER_BYTES - used, "]");
}

/* ---- patterns -------------------------------------------------------------------- */

static const char *placeholder_text(const struct roast_finding *finding,
                                    const char *name, size_t size_bytes)
{
    for (size_t i = 0; i < finding->placeholder_count; i++) {
        const struct roast_placeholder *placeholder = &finding->placeholders[i];
        if (strlen(placeholder->name) == size_bytes &&
            memcmp(placeholder->name, name, size_bytes) == 0)
            return placeholder->text;
    }
    return "";
}

static size_t put(char out[ROAST_FINDING_TEXT_BYTES], size_t used, const char *text,
                  size_t size_bytes)
{
    size_t room = ROAST_FINDING_TEXT_BYTES - 1 - used;

    size_bytes = roast_str_cut((struct roast_str){text, size_bytes}, room).size_bytes;
    memcpy(out + used, text, size_bytes);
    return used + size_bytes;
}

/* Writes one alternative; returns 0 if one of its placeholders is empty. */
static size_t fill_alternative(char out[ROAST_FINDING_TEXT_BYTES],
                               struct roast_str pattern,
                               const struct roast_finding *finding)
{
    const char *next = pattern.data, *end = next + pattern.size_bytes;
    size_t used = 0;

    while (next < end) {
        const char *open = memchr(next, '{', (size_t)(end - next));
        const char *close = open ? memchr(open, '}', (size_t)(end - open)) : NULL;
        used = put(out, used, next, (size_t)((close ? open : end) - next));
        if (!close)
            break;
        bool optional = open[1] == '?';
        const char *name = open + 1 + optional;
        const char *text = placeholder_text(finding, name, (size_t)(close - name));
        if (text[0] == '\0' && !optional)
            return 0;
        used = put(out, used, text, strlen(text));
        next = close + 1;
    }
    return used;
}

size_t roast__fill_pattern(char out[ROAST_FINDING_TEXT_BYTES], const char *pattern,
                           const struct roast_finding *finding)
{
    static const char separator[] = " // ";
    size_t used = 0;

    while (pattern && used == 0) {
        const char *next = strstr(pattern, separator);
        size_t size = next ? (size_t)(next - pattern) : strlen(pattern);
        used = fill_alternative(out, (struct roast_str){pattern, size}, finding);
        pattern = next ? next + strlen(separator) : NULL;
    }
    out[used] = '\0';
    return used;
}
