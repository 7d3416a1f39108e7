/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_csv.c - rows as CSV (RFC 4180).
 *
 * Text that a spreadsheet would take for a formula (it begins with = + - @) gets an
 * apostrophe in front, which marks it as text. Newlines are kept inside quotes; other
 * control characters become '?'. JSON keeps them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "roast/json_write.h"
#include "table/row_writer.h"

enum { NUMBER_BYTES = 40 };

static void put_text(struct roast_row_writer *writer, struct roast_str text)
{
    struct roast_buf *printable = &writer->printable;

    roast__buf_clear(printable);
    roast__buf_reserve(printable, text.size_bytes);
    while (text.size_bytes > 0 && roast__buf_ok(printable)) {
        const char *end = memchr(text.data, '\n', text.size_bytes);
        size_t size = end ? (size_t)(end - text.data) : text.size_bytes;
        bool has_return = end && size > 0 && text.data[size - 1] == '\r';
        printable->size_bytes +=
            roast_printable((char *)printable->data + printable->size_bytes,
                            (struct roast_str){text.data, size - has_return});
        if (end)
            printable->data[printable->size_bytes++] = '\n';
        text.data += size + (end != NULL);
        text.size_bytes -= size + (end != NULL);
    }
    const char *data = (const char *)printable->data;
    size_t size = printable->size_bytes, first = 0;
    writer->failed |= !roast__buf_ok(printable);
    if (writer->failed || size == 0)
        return;
    bool quoted = memchr(data, ',', size) || memchr(data, '\n', size) ||
                  memchr(data, '"', size) || data[0] == ' ' || data[size - 1] == ' ';
    while (first < size && (data[first] == ' ' || data[first] == '\n'))
        first++;
    roast__put(&writer->out, quoted ? "\"" : "");
    if (first < size && data[first] != '\0' && strchr("=+-@", data[first]))
        roast__put(&writer->out, "'");
    while (size > 0) {
        const char *quote = memchr(data, '"', size);
        size_t piece = quote ? (size_t)(quote - data) + 1 : size;
        roast__buf_put(&writer->out, data, piece);
        roast__put(&writer->out, quote ? "\"" : "");
        data += piece;
        size -= piece;
    }
    roast__put(&writer->out, quoted ? "\"" : "");
}

static void put(roast_row_writer *writer, const struct roast_cell *cells)
{
    for (size_t i = 0; i < writer->options.count; i++) {
        const struct roast_cell *cell = &cells[i];
        char number[NUMBER_BYTES] = "";
        if (i > 0)
            roast__put(&writer->out, ",");
        if (cell->type == ROAST_CELL_TEXT)
            put_text(writer, cell->text);
        else if (cell->type == ROAST_CELL_COUNT)
            (void)snprintf(number, sizeof(number), "%" PRIu64, cell->count);
        else if (cell->type == ROAST_CELL_BOOL)
            (void)snprintf(number, sizeof(number), "%s",
                           cell->count ? "true" : "false");
        else if (cell->type == ROAST_CELL_NUMBER && cell->whole)
            (void)snprintf(number, sizeof(number), "%.0f", cell->number);
        else if (cell->type == ROAST_CELL_NUMBER)
            (void)roast_shortest_number(number, cell->number);
        roast__put(&writer->out, strcmp(number, "null") == 0 ? "" : number);
    }
    roast__put(&writer->out, "\r\n");
    roast__row_writer_flush(writer);
}

static void begin(roast_row_writer *writer)
{
    for (size_t i = 0; i < writer->options.count; i++) {
        roast__put(&writer->out, i > 0 ? "," : "");
        put_text(writer, roast_str_of(writer->columns[i].heading));
    }
    roast__put(&writer->out, "\r\n");
    roast__row_writer_flush(writer);
}

const struct roast_row_format roast__rows_csv = {.begin = begin, .put = put};
