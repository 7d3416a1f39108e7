/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.c - titles, sentences, wrapped lines, rows with labels, and parts of a page. */
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

/* ---- rows ------------------------------------------------------------------------ */

enum { LABEL_COLUMNS = 40, INDENT = 2, SECOND_COLUMN = 42 };

/* The widths of some rows. */
struct row_widths {
    size_t label;
    size_t value;
};

static struct roast_str label_of(const struct roast_row *row)
{
    return field(row->label, sizeof(row->label));
}

static struct roast_str value_of(const struct roast_row *row, size_t columns)
{
    if (columns > 1 && row->absent)
        return roast_str_of("-");
    return field(row->value, sizeof(row->value));
}

static struct row_widths widths_of(const struct roast_row *rows, size_t count,
                                   size_t columns)
{
    struct row_widths widths = {0, 0};

    for (size_t i = 0; i < count; i++) {
        size_t label = roast__text_columns(label_of(&rows[i]));
        size_t value = roast__text_columns(value_of(&rows[i], columns));
        label = label < LABEL_COLUMNS ? label : LABEL_COLUMNS;
        widths.label = label > widths.label ? label : widths.label;
        widths.value = value > widths.value ? value : widths.value;
    }
    return widths;
}

static size_t needed(struct row_widths widths)
{
    return INDENT + widths.label + INDENT + widths.value;
}

/* How many rows are in the first of two columns: groups of a row and its indented parts
 * are not divided. All, if two columns do not fit. */
static size_t first_column(const struct roast_row *rows, size_t count)
{
    size_t half = (count + 1) / 2;

    while (half < count && rows[half].label[0] == ' ')
        half++;
    return needed(widths_of(rows, half, 2)) +
                       needed(widths_of(rows + half, count - half, 2)) <=
                   ROAST_PAGE_COLUMNS
               ? half
               : count;
}

/* Returns the columns put. */
static size_t put_row(struct roast_buf *buf, const struct roast_row *row, size_t label,
                      size_t columns, size_t room)
{
    roast__put_blanks(buf, INDENT);
    size_t used = roast__put_text(buf, label_of(row), label, ROAST_CUT_MIDDLE);
    roast__put_blanks(buf, label - used + INDENT);
    used = INDENT + label + INDENT;
    return used +
           roast__put_text(buf, value_of(row, columns), room - used, ROAST_CUT_END);
}

void roast__put_rows(struct roast_buf *buf, const char *title,
                     const struct roast_row *rows, size_t count, size_t columns)
{
    size_t half = columns > 1 ? first_column(rows, count) : count;
    struct row_widths left = widths_of(rows, half, columns);
    struct row_widths right = widths_of(rows + half, count - half, columns);
    size_t begin = ROAST_PAGE_COLUMNS - needed(right);

    begin = begin < SECOND_COLUMN ? begin : SECOND_COLUMN;
    begin = begin > needed(left) ? begin : needed(left);
    if (title) {
        roast__put(buf, ROAST_HEADING);
        (void)roast__put_text(buf, roast_str_of(title), ROAST_PAGE_COLUMNS,
                              ROAST_CUT_END);
        roast__put(buf, ROAST_HEADING_END "\n");
    }
    for (size_t i = 0; i < half; i++) {
        size_t used = put_row(buf, &rows[i], left.label, columns, ROAST_PAGE_COLUMNS);
        if (half + i < count) {
            roast__put_blanks(buf, begin - used);
            (void)put_row(buf, &rows[half + i], right.label, columns,
                          ROAST_PAGE_COLUMNS - begin);
        }
        roast__end_line(buf);
    }
}

int roast_report_aligned(struct roast_page *out, const char *title,
                         const struct roast_row *rows, size_t count, roast_error *err)
{
    struct roast_buf buf = {0};

    roast__put_rows(&buf, title, rows, count, 1);
    return roast__page_finish(out, &buf, err);
}

/* ---- parts ----------------------------------------------------------------------- */

const char *roast__term(enum roast_term term)
{
    static const char *const terms[] = {
#define W(id, section, shown, meaning) (shown),
#include "report/page_terms.def"
#undef W
    };
    return terms[term];
}

void roast__put_more(struct roast_buf *buf, const struct roast_page_input *input,
                     size_t rows, size_t shown)
{
    if (rows > shown && roast__is_short(input))
        roast__put_line(buf, "  %zu more: %s", rows - shown, input->heading->full_by);
    else if (rows > shown)
        roast__put_line(buf, "  %zu more", rows - shown);
}

size_t roast__count_lines(const struct roast_buf *buf)
{
    size_t lines = 0;

    for (size_t i = 0; i < buf->size_bytes; i++)
        lines += buf->data[i] == '\n';
    return lines;
}

void roast__put_part(struct roast_buf *buf, struct roast_buf *part)
{
    roast__buf_put(buf, part->data, part->size_bytes);
    buf->failed |= !roast__buf_ok(part);
    roast__buf_release(part);
}
