/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_csv.c - rows as CSV (RFC 4180), in fields that a spreadsheet cannot take for a formula.
 *
 * A text that begins with = + - @ (or a blank before one of them) gets an apostrophe in
 * front, which spreadsheets take for "this is text". Lines stay lines, inside quotes;
 * other control characters have no meaning there and become '?'. JSON keeps them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "roast/report.h"
#include "rows.h"

static bool is_formula(struct roast_str text)
{
    size_t i = 0;

    while (i < text.size_bytes && (text.data[i] == ' ' || text.data[i] == '\n'))
        i++;
    return i < text.size_bytes && strchr("=+-@", text.data[i]) && text.data[i];
}

static bool needs_quotes(struct roast_str text)
{
    return memchr(text.data, ',', text.size_bytes) ||
           memchr(text.data, '\n', text.size_bytes) ||
           memchr(text.data, '"', text.size_bytes) || text.data[0] == ' ' ||
           text.data[text.size_bytes - 1] == ' ';
}

static void put_fit(struct roast_str text)
{
    bool quotes;

    if (text.size_bytes == 0)
        return;
    quotes = needs_quotes(text);
    if (quotes)
        out_text("\"");
    if (is_formula(text))
        out_text("'");
    while (text.size_bytes > 0) {
        const char *quote = memchr(text.data, '"', text.size_bytes);
        size_t size = quote ? (size_t)(quote - text.data) + 1 : text.size_bytes;
        out_bytes((struct roast_str){text.data, size});
        if (quote)
            out_text("\"");
        text.data += size;
        text.size_bytes -= size;
    }
    if (quotes)
        out_text("\"");
}

/* Every line as it is shown; what is shown is never longer. */
static size_t fit_lines(char *fit, struct roast_str text)
{
    size_t used = 0;

    while (text.size_bytes > 0) {
        const char *end = memchr(text.data, '\n', text.size_bytes);
        size_t size = end ? (size_t)(end - text.data) : text.size_bytes;
        bool has_return = end && size > 0 && text.data[size - 1] == '\r';
        used += roast_report_fit(
            fit + used, (struct roast_str){text.data, size - has_return}, NULL);
        if (end)
            fit[used++] = '\n';
        text.data += size + (end != NULL);
        text.size_bytes -= size + (end != NULL);
    }
    return used;
}

static void put_text(struct roast_str text)
{
    char room[512];
    char *fit =
        text.size_bytes > sizeof(room) ? need_memory(NULL, text.size_bytes) : room;

    put_fit((struct roast_str){fit, fit_lines(fit, text)});
    if (fit != room)
        free(fit);
}

static void put_cell(const struct roast_cell *cell)
{
    char number[ROAST_JSON_NUMBER_BYTES];

    if (cell->type == ROAST_CELL_TEXT)
        put_text(cell->text);
    else if (cell->type == ROAST_CELL_COUNT)
        out_format("%" PRIu64, cell->count);
    else if (cell->type == ROAST_CELL_BOOL)
        out_text(cell->count ? "true" : "false");
    else if (cell->type == ROAST_CELL_NUMBER && cell->whole)
        out_format("%.0f", cell->number);
    else if (cell->type == ROAST_CELL_NUMBER) {
        (void)roast_shortest_number(number, cell->number);
        out_text(strcmp(number, "null") == 0 ? "" : number);
    }
}

static void begin(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct roast_cell name = {.type = ROAST_CELL_TEXT,
                                  .text = roast_str_of(rows->names[i])};
        out_text(i > 0 ? "," : "");
        put_cell(&name);
    }
    out_text("\r\n");
}

static void put(struct rows *rows, const struct roast_cell *cells)
{
    for (size_t i = 0; i < rows->count; i++) {
        put_cell(&cells[i]);
        out_text(i + 1 < rows->count ? "," : "\r\n");
    }
}

const struct row_writer rows_csv = {.begin = begin, .put = put};
