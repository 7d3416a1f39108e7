/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.c - titles, sentences, wrapped lines, and rows of two columns. */
#include <stdarg.h>
#include <stdio.h>

#include "report/layout.h"

void roast__put_title(struct roast_buf *buf, const char *title)
{
    roast__put(buf, "\n" ROAST_HEADING);
    roast__put(buf, title);
    roast__put(buf, ROAST_HEADING_END "\n");
}

void roast__put_line(struct roast_buf *buf, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    (void)roast__put_text(buf, roast_str_of(text), ROAST_PAGE_COLUMNS, ROAST_CUT_END);
    roast__end_line(buf);
}

void roast__line_part(struct roast_wrapped_line *line, struct roast_str text)
{
    static const size_t joint = sizeof(" | ") - 1;
    size_t room = ROAST_PAGE_COLUMNS - line->indent;
    size_t columns = roast__text_columns(text);

    columns = columns < room ? columns : room;
    if (line->parts > 0 && line->columns + joint + columns <= ROAST_PAGE_COLUMNS) {
        roast__put(line->buf, " | ");
        line->columns += joint;
    } else if (line->parts > 0) {
        roast__end_line(line->buf);
        roast__put_blanks(line->buf, line->indent);
        line->columns = line->indent;
    }
    size_t left = ROAST_PAGE_COLUMNS - line->columns;
    line->columns += roast__put_text(line->buf, text, left, ROAST_CUT_MIDDLE);
    line->parts++;
}

void roast__line_format(struct roast_wrapped_line *line, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    roast__line_part(line, roast_str_of(text));
}

void roast__line_end(struct roast_wrapped_line *line)
{
    if (line->parts > 0)
        roast__end_line(line->buf);
    line->parts = 0;
    line->columns = 0;
}

/* The longest prefix that fits and ends with a word; of a long word, a piece. */
static struct roast_str cut_at_word(struct roast_str text, size_t room)
{
    struct roast_str piece = roast_str_cut(text, room);
    struct roast_str words = piece;

    if (words.size_bytes == text.size_bytes)
        return words;
    while (words.size_bytes > 0 && text.data[words.size_bytes] != ' ')
        words.size_bytes--;
    return words.size_bytes > 0 ? words : piece;
}

void roast__put_sentence(struct roast_buf *buf, size_t indent, const char *format, ...)
{
    char text[ROAST_SENTENCE_BYTES];
    size_t blanks = indent;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    struct roast_str rest = roast_str_of(text);
    while (rest.size_bytes > 0) {
        size_t room = ROAST_PAGE_COLUMNS - blanks;
        struct roast_str words = cut_at_word(rest, room);
        roast__put_blanks(buf, blanks);
        (void)roast__put_text(buf, words, room, ROAST_CUT_END);
        roast__end_line(buf);
        rest.data += words.size_bytes;
        rest.size_bytes -= words.size_bytes;
        while (rest.size_bytes > 0 && *rest.data == ' ') {
            rest.data++;
            rest.size_bytes--;
        }
        blanks = indent + 2;
    }
}

/* A field may be full, without a NUL at its end. */
static struct roast_str field(const char *text, size_t cap_bytes)
{
    const char *end = memchr(text, '\0', cap_bytes);

    return (struct roast_str){text, end ? (size_t)(end - text) : cap_bytes};
}

void roast__put_rows(struct roast_buf *buf, const char *title,
                     const struct roast_row *rows, size_t count)
{
    static const struct roast_grid_column columns[] = {
        {.max_columns = 40, .cut = ROAST_CUT_MIDDLE},
        {.max_columns = 0},
    };
    struct roast_grid grid = {.columns = columns, .column_count = 2};

    for (size_t i = 0; i < count; i++) {
        roast__grid_put(&grid, field(rows[i].label, sizeof(rows[i].label)));
        roast__grid_put(&grid, field(rows[i].value, sizeof(rows[i].value)));
    }
    if (title) {
        roast__put(buf, ROAST_HEADING);
        (void)roast__put_text(buf, roast_str_of(title), ROAST_PAGE_COLUMNS,
                              ROAST_CUT_END);
        roast__put(buf, ROAST_HEADING_END "\n");
    }
    roast__grid_write(buf, &grid);
    roast__grid_release(&grid);
}

int roast_report_aligned(struct roast_page *out, const char *title,
                         const struct roast_row *rows, size_t count, roast_error *err)
{
    struct roast_buf buf = {0};

    roast__put_rows(&buf, title, rows, count);
    return roast__page_finish(out, &buf, err);
}
