/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c - rows of cells as aligned text, CSV or JSON lines. */
#include "rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "roast/report.h"

enum { NUMBER_BYTES = 40 };

/* The names are copied: whoever gave them may be gone when the widths are known. */
static void keep_names(struct rows *rows, const char *const *names, size_t count)
{
    size_t size = count * sizeof(*names);

    for (size_t i = 0; i < count; i++)
        size += strlen(names[i]) + 1;
    rows->names = need_memory(NULL, size);
    rows->count = count;
    char *at = (char *)&rows->names[count];
    for (size_t i = 0; i < count; i++) {
        rows->names[i] = at;
        at = stpcpy(at, names[i]) + 1;
    }
}

static void put_csv_head(const struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct roast_cell name = {.type = ROAST_CELL_TEXT,
                                  .text = roast_str_of(rows->names[i])};
        out_text(i > 0 ? "," : "");
        csv_put(&name);
    }
    out_text("\r\n");
}

void rows_begin(struct rows *rows, const char *const *names, size_t count)
{
    keep_names(rows, names, count);
    if (rows->format == FORMAT_CSV)
        put_csv_head(rows);
    if (rows->format != FORMAT_TEXT)
        return;
    rows->widths = need_memory(NULL, count * sizeof(*rows->widths));
    rows->aligns = need_memory(NULL, count * sizeof(*rows->aligns));
    rows->cells = need_memory(NULL, ROWS_HELD * count * sizeof(*rows->cells));
    for (size_t i = 0; i < count; i++) {
        rows->widths[i] = strlen(names[i]);
        rows->aligns[i] = (struct align){0};
    }
}

/* ---- text --------------------------------------------------------------------- */

static struct roast_str shown_cell(char room[NUMBER_BYTES],
                                   const struct roast_cell *cell)
{
    int size = 0;

    if (cell->type == ROAST_CELL_TEXT)
        return cell->text;
    if (cell->type == ROAST_CELL_COUNT)
        size = snprintf(room, NUMBER_BYTES, "%" PRIu64, cell->count);
    else if (cell->type == ROAST_CELL_NUMBER)
        size =
            snprintf(room, NUMBER_BYTES, cell->whole ? "%.0f" : "%.9g", cell->number);
    else
        size = snprintf(room, NUMBER_BYTES, "%s",
                        cell->type != ROAST_CELL_BOOL ? "-"
                        : cell->count != 0            ? "yes"
                                                      : "no");
    return (struct roast_str){room, (size_t)size};
}

/* Pads between columns; the last one is not padded, so that no line ends with blanks. */
static void put_aligned(const struct rows *rows, size_t column, struct roast_str fit,
                        size_t columns)
{
    size_t width =
        rows->widths[column] < ROWS_MAX_PAD ? rows->widths[column] : ROWS_MAX_PAD;
    size_t pad = columns < width ? width - columns : 0;
    bool last = column + 1 == rows->count;

    if (rows->aligns[column].right)
        out_blanks(pad);
    out_bytes(fit);
    if (!rows->aligns[column].right && !last)
        out_blanks(pad);
    out_text(last ? "\n" : "  ");
}

static void put_head(const struct rows *rows)
{
    out_text(out_wants_bold() ? BOLD : "");
    for (size_t i = 0; i < rows->count; i++) {
        char fit[256];
        struct roast_str name =
            roast_str_cut(roast_str_of(rows->names[i]), sizeof(fit));
        size_t columns;
        size_t size = roast_report_fit(fit, name, &columns);
        put_aligned(rows, i, (struct roast_str){fit, size}, columns);
    }
    out_text(out_wants_bold() ? PLAIN : "");
}

/* Writes what waits. */
static void put_held(struct rows *rows)
{
    size_t at = 0;

    rows->aligned = true;
    for (size_t i = 0; i < rows->count; i++) {
        struct align *align = &rows->aligns[i];
        align->right = (align->numbers && !align->words) ||
                       (i < 64 && rows->right_columns >> i & 1);
    }
    put_head(rows);
    for (size_t i = 0; i < rows->held * rows->count; i++) {
        const struct held_cell *cell = &rows->cells[i];
        put_aligned(rows, i % rows->count,
                    (struct roast_str){rows->texts + at, cell->end - at},
                    cell->columns);
        at = cell->end;
    }
    rows->texts_size = 0;
}

/* Makes room for a fit text behind those that wait. */
static char *text_room(struct rows *rows, size_t size)
{
    if (rows->texts_cap - rows->texts_size < size) {
        rows->texts_cap = 2 * rows->texts_cap + size + 4096;
        rows->texts = need_memory(rows->texts, rows->texts_cap);
    }
    return rows->texts + rows->texts_size;
}

static void note_kind(struct align *align, enum roast_cell_type type)
{
    align->words |= type == ROAST_CELL_TEXT || type == ROAST_CELL_BOOL;
    align->numbers |= type == ROAST_CELL_COUNT || type == ROAST_CELL_NUMBER;
}

static void put_text_row(struct rows *rows, const struct roast_cell *cells)
{
    for (size_t i = 0; i < rows->count; i++) {
        char number[NUMBER_BYTES];
        struct roast_str text = shown_cell(number, &cells[i]);
        char *fit = text_room(rows, text.size_bytes);
        size_t columns;
        size_t size = roast_report_fit(fit, text, &columns);
        if (rows->aligned) {
            put_aligned(rows, i, (struct roast_str){fit, size}, columns);
            continue;
        }
        rows->texts_size += size;
        rows->cells[rows->held * rows->count + i] =
            (struct held_cell){rows->texts_size, columns};
        if (columns > rows->widths[i])
            rows->widths[i] = columns;
        note_kind(&rows->aligns[i], cells[i].type);
    }
    rows->held += !rows->aligned;
    if (!rows->aligned && rows->held == ROWS_HELD)
        put_held(rows);
}

/* ---- rows --------------------------------------------------------------------- */

static void put_json_row(const struct rows *rows, const struct roast_cell *cells)
{
    struct roast_json json = out_json();

    roast_json_open(&json, '{');
    for (size_t i = 0; i < rows->count; i++) {
        roast_json_key(&json, roast_str_of(rows->names[i]));
        roast_json_cell(&json, &cells[i]);
    }
    roast_json_close(&json, '}');
    out_text("\n");
}

void rows_put(struct rows *rows, const struct roast_cell *cells)
{
    if (rows->format == FORMAT_TEXT)
        put_text_row(rows, cells);
    else if (rows->format == FORMAT_JSON)
        put_json_row(rows, cells);
    for (size_t i = 0; rows->format == FORMAT_CSV && i < rows->count; i++) {
        csv_put(&cells[i]);
        out_text(i + 1 < rows->count ? "," : "\r\n");
    }
}

void rows_end(struct rows *rows)
{
    if (rows->format == FORMAT_TEXT && rows->names && !rows->aligned)
        put_held(rows);
    free(rows->names);
    free(rows->widths);
    free(rows->aligns);
    free(rows->cells);
    free(rows->texts);
    *rows = (struct rows){.format = rows->format};
}
