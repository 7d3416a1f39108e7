/* SPDX-License-Identifier: BSD-3-Clause */
/* aligned.c - cells in aligned columns, and lines of parts that wrap.
 *
 * Widths are counted in columns of a terminal, not in bytes. Blanks at the end of a
 * line are never written: they would show up in everything that compares text. */
#include <inttypes.h>
#include <stdio.h>

#include "report/grid.h"

enum { INDENT = 2, GAP = 2 };

struct cell_place {
    size_t offset;
    size_t size_bytes;
    size_t columns;
};

void roast__end_line(struct roast_buf *buf)
{
    while (buf->size_bytes > 0 && buf->data[buf->size_bytes - 1] == ' ')
        buf->size_bytes--;
    roast__put(buf, "\n");
}

void roast__put_title(struct roast_buf *buf, const char *title)
{
    roast__put(buf, "\n" ROAST_HEADING);
    roast__put(buf, title);
    roast__put(buf, ROAST_HEADING_END "\n");
}

void roast__put_count_line(struct roast_buf *buf, uint64_t count, const char *words)
{
    char line[96];

    (void)snprintf(line, sizeof(line), "  %" PRIu64 " %s\n", count, words);
    roast__put(buf, line);
}

static size_t cell_count(const struct roast_grid *grid)
{
    return grid->cells.size_bytes / sizeof(struct cell_place);
}

static struct cell_place cell_at(const struct roast_grid *grid, size_t index)
{
    struct cell_place place;

    memcpy(&place, grid->cells.data + index * sizeof(place), sizeof(place));
    return place;
}

void roast__grid_put(struct roast_grid *grid, struct roast_str text)
{
    const struct roast_column *column =
        &grid->columns[cell_count(grid) % grid->column_count];
    size_t most = column->max_columns ? column->max_columns : ROAST_PAGE_COLUMNS;
    struct cell_place place = {.offset = grid->text.size_bytes};

    place.columns = roast__put_text(&grid->text, text, most, column->cut);
    place.size_bytes = grid->text.size_bytes - place.offset;
    if (roast__buf_ok(&grid->text))
        roast__buf_put(&grid->cells, &place, sizeof(place));
}

void roast__grid_put_number(struct roast_grid *grid, double value, const char *unit)
{
    char text[ROAST_NUMBER_BYTES];

    (void)roast_format_number(text, value, unit);
    roast__grid_put(grid, roast_str_of(text));
}

/* The widest cell of every column; the last one gets no more than what is left. */
static void measure(size_t widths[ROAST_GRID_MAX_COLUMNS],
                    const struct roast_grid *grid)
{
    size_t last = grid->column_count - 1;
    size_t used = INDENT;

    for (size_t i = 0; i <= last; i++)
        widths[i] = grid->columns[0].heading ? strlen(grid->columns[i].heading) : 0;
    for (size_t i = 0; i < cell_count(grid); i++) {
        size_t columns = cell_at(grid, i).columns;
        size_t *width = &widths[i % grid->column_count];
        if (columns > *width)
            *width = columns;
    }
    for (size_t i = 0; i < last; i++)
        used += widths[i] + GAP;
    size_t left = used < ROAST_PAGE_COLUMNS ? ROAST_PAGE_COLUMNS - used : 0;
    if (widths[last] > left)
        widths[last] = left;
}

static void write_cell(struct roast_buf *buf, const struct roast_column *column,
                       struct roast_str text, size_t width, bool last)
{
    size_t columns = roast__text_columns(text);
    size_t blanks = columns < width ? width - columns : 0;

    if (column->right)
        roast__put_blanks(buf, blanks);
    (void)roast__put_text(buf, text, width, column->cut);
    if (!last)
        roast__put_blanks(buf, column->right ? GAP : blanks + GAP);
}

static struct roast_str grid_text(const struct roast_grid *grid, size_t index)
{
    struct cell_place place = cell_at(grid, index);

    return (struct roast_str){(const char *)grid->text.data + place.offset,
                              place.size_bytes};
}

void roast__grid_write(struct roast_buf *buf, struct roast_grid *grid)
{
    size_t widths[ROAST_GRID_MAX_COLUMNS] = {0};
    size_t n = grid->column_count;

    if (!roast__buf_ok(&grid->text) || !roast__buf_ok(&grid->cells)) {
        buf->failed = true; /* the page checks once, at its end */
        return;
    }
    measure(widths, grid);
    if (grid->columns[0].heading) {
        roast__put_blanks(buf, INDENT);
        for (size_t i = 0; i < n; i++)
            write_cell(buf, &grid->columns[i], roast_str_of(grid->columns[i].heading),
                       widths[i], i + 1 == n);
        roast__end_line(buf);
    }
    for (size_t cell = 0; cell + n <= cell_count(grid); cell += n) {
        roast__put_blanks(buf, INDENT);
        for (size_t i = 0; i < n; i++)
            write_cell(buf, &grid->columns[i], grid_text(grid, cell + i), widths[i],
                       i + 1 == n);
        roast__end_line(buf);
    }
}

void roast__grid_release(struct roast_grid *grid)
{
    roast__buf_release(&grid->text);
    roast__buf_release(&grid->cells);
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

void roast__line_end(struct roast_wrapped_line *line)
{
    if (line->parts > 0)
        roast__end_line(line->buf);
    line->parts = 0;
    line->columns = 0;
}

/* The longest front of text that fits and ends with a word; of a long word, a piece. */
static struct roast_str words_that_fit(struct roast_str text, size_t room)
{
    struct roast_str piece = roast_str_cut(text, room);
    struct roast_str words = piece;

    if (words.size_bytes == text.size_bytes)
        return words;
    while (words.size_bytes > 0 && text.data[words.size_bytes] != ' ')
        words.size_bytes--;
    return words.size_bytes > 0 ? words : piece;
}

void roast__put_sentence(struct roast_buf *buf, size_t indent, const char *text)
{
    struct roast_str rest = roast_str_of(text);
    size_t blanks = indent;

    while (rest.size_bytes > 0) {
        size_t room = ROAST_PAGE_COLUMNS - blanks;
        struct roast_str words = words_that_fit(rest, room);
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

/* A field of a row that somebody else may have filled to its last byte. */
static struct roast_str field(const char *text, size_t cap_bytes)
{
    const char *end = memchr(text, '\0', cap_bytes);

    return (struct roast_str){text, end ? (size_t)(end - text) : cap_bytes};
}

void roast__put_rows(struct roast_buf *buf, const char *title,
                     const struct roast_row *rows, size_t count)
{
    static const struct roast_column columns[] = {
        {.max_columns = 40, .cut = ROAST_CUT_MIDDLE},
        {.max_columns = 0, .cut = ROAST_CUT_END},
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
