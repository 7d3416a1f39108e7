/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c - the words of findings: patterns with blanks, and numbers for them.
 *
 * Names of files come from data: they are cut, and what shows them makes them fit for
 * where they go. */
#include "analyze/findings/text.h"

#include <assert.h>
#include <stdio.h>

#include "roast/number.h"

enum { MOST_NAME_BYTES = 120, MOST_LIST_BYTES = 160, MOST_FOLDER_BYTES = 40 };

/* ---- blanks ---------------------------------------------------------------------- */

static struct roast_blank *new_blank(struct roast_finding *finding, const char *name)
{
    assert(finding->blank_count < ROAST_BLANKS);
    struct roast_blank *blank = &finding->blanks[finding->blank_count++];

    blank->name = name;
    blank->text[0] = '\0';
    return blank;
}

void roast__blank_number(struct roast_finding *finding, const char *name, double value,
                         const char *unit)
{
    struct roast_blank *blank = new_blank(finding, name);

    if (isfinite(value))
        (void)roast_format_number(blank->text, value, unit);
}

/* All of it in one line. */
static void add_text(struct roast_blank *blank, struct roast_str text)
{
    size_t used = strlen(blank->text);

    for (size_t i = 0; i < text.size_bytes; i++)
        blank->text[used++] = (unsigned char)text.data[i] < ' ' ? ' ' : text.data[i];
    blank->text[used] = '\0';
}

void roast__blank_text(struct roast_finding *finding, const char *name,
                       struct roast_str text)
{
    struct roast_blank *blank = new_blank(finding, name);
    struct roast_str cut = roast_str_cut(text, MOST_NAME_BYTES);

    add_text(blank, cut);
    if (cut.size_bytes < text.size_bytes)
        add_text(blank, roast_str_of("..."));
}

/* The last bytes of a text; no character is cut in two. */
static struct roast_str end_of(struct roast_str text, size_t size_bytes)
{
    size_t from = text.size_bytes - size_bytes;

    while (from < text.size_bytes && ((unsigned char)text.data[from] & 0xC0) == 0x80)
        from++;
    return (struct roast_str){text.data + from, text.size_bytes - from};
}

void roast__blank_file(struct roast_finding *finding, const char *name,
                       struct roast_str file)
{
    if (file.size_bytes <= MOST_NAME_BYTES) {
        roast__blank_text(finding, name, file);
        return;
    }
    struct roast_blank *blank = new_blank(finding, name);
    add_text(blank, roast_str_cut(file, MOST_FOLDER_BYTES));
    add_text(blank, roast_str_of("..."));
    add_text(blank, end_of(file, MOST_NAME_BYTES - MOST_FOLDER_BYTES));
}

void roast__blank_count(struct roast_finding *finding, const char *name, double count,
                        const char *noun)
{
    struct roast_blank *blank = new_blank(finding, name);

    if (!isfinite(count))
        return;
    size_t size = roast_format_number(blank->text, count, "");
    (void)snprintf(blank->text + size, ROAST_BLANK_BYTES - size, " %s%s", noun,
                   count == 1 ? "" : "s");
}

void roast__blank_size(struct roast_finding *finding, const char *name, double size)
{
    struct roast_blank *blank = new_blank(finding, name);
    char digits[32];
    size_t out = 0;

    if (!(size >= 0 && size < 1e15))
        return;
    size_t count = (size_t)snprintf(digits, sizeof(digits), "%.0f", size);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            blank->text[out++] = '_';
        blank->text[out++] = digits[i];
    }
    blank->text[out] = '\0';
}

void roast__blank_memory(struct roast_finding *finding, const char *name, double bytes)
{
    struct roast_blank *blank = new_blank(finding, name);
    bool large = bytes >= 1e9;

    if (bytes > 0 && bytes < 1e18)
        (void)snprintf(blank->text, sizeof(blank->text), "'%.0f%s'",
                       ceil(bytes / (large ? 1e9 : 1e6)), large ? "GB" : "MB");
}

void roast__blank_pattern(struct roast_finding *finding, const char *name,
                          const char *pattern)
{
    char text[ROAST_FINDING_TEXT_BYTES];
    size_t size = roast__fill_pattern(text, pattern, finding);
    struct roast_str cut =
        roast_str_cut((struct roast_str){text, size}, ROAST_BLANK_BYTES - 1);
    struct roast_blank *blank = new_blank(finding, name);

    assert(cut.size_bytes == size); /* half a list is none that can be pasted */
    memcpy(blank->text, cut.data, cut.size_bytes);
    blank->text[cut.size_bytes] = '\0';
}

/* ---- lists of columns ------------------------------------------------------------ */

void roast__blank_preload(const struct roast_rule_input *at,
                          struct roast_finding *finding, const char *name)
{
    const roast_table *table = at->ctx->summary->tables[ROAST_TABLE_preload];
    size_t count = table ? roast_table_rows(table) : 0, row = 0, used = 1;

    if (count == 0)
        return;
    struct roast_blank *blank = new_blank(finding, name);
    blank->text[0] = '[';
    for (; row < count; row++) {
        struct roast_str branch =
            roast_table_text(table, row, ROAST_COL_preload_branch);
        if (used + branch.size_bytes + 4 > MOST_LIST_BYTES)
            break;
        used +=
            (size_t)snprintf(blank->text + used, ROAST_BLANK_BYTES - used, "%s'%.*s'",
                             row > 0 ? ", " : "", (int)branch.size_bytes, branch.data);
    }
    if (row < count)
        (void)snprintf(blank->text + used, ROAST_BLANK_BYTES - used,
                       "%s...] (all %zu: get_metrics()['preload'])",
                       row > 0 ? ", " : "", count);
    else
        (void)snprintf(blank->text + used, ROAST_BLANK_BYTES - used, "]");
}

/* ---- patterns -------------------------------------------------------------------- */

static const char *text_of(const struct roast_finding *finding, const char *name,
                           size_t size_bytes)
{
    for (size_t i = 0; i < finding->blank_count; i++) {
        const struct roast_blank *blank = &finding->blanks[i];
        if (strlen(blank->name) == size_bytes &&
            memcmp(blank->name, name, size_bytes) == 0)
            return blank->text;
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

/* One alternative; 0: one of its blanks is empty. */
static size_t fill(char out[ROAST_FINDING_TEXT_BYTES], struct roast_str pattern,
                   const struct roast_finding *finding)
{
    const char *at = pattern.data, *end = at + pattern.size_bytes;
    size_t used = 0;

    while (at < end) {
        const char *open = memchr(at, '{', (size_t)(end - at));
        const char *close = open ? memchr(open, '}', (size_t)(end - open)) : NULL;
        used = put(out, used, at, (size_t)((close ? open : end) - at));
        if (!close)
            break;
        bool may_lack = open[1] == '?';
        const char *name = open + 1 + may_lack;
        const char *text = text_of(finding, name, (size_t)(close - name));
        if (text[0] == '\0' && !may_lack)
            return 0;
        used = put(out, used, text, strlen(text));
        at = close + 1;
    }
    return used;
}

size_t roast__fill_pattern(char out[ROAST_FINDING_TEXT_BYTES], const char *pattern,
                           const struct roast_finding *finding)
{
    static const char or_else[] = " // ";
    size_t used = 0;

    while (pattern && used == 0) {
        const char *next = strstr(pattern, or_else);
        size_t size = next ? (size_t)(next - pattern) : strlen(pattern);
        used = fill(out, (struct roast_str){pattern, size}, finding);
        pattern = next ? next + strlen(or_else) : NULL;
    }
    out[used] = '\0';
    return used;
}
