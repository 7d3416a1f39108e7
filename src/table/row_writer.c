/* SPDX-License-Identifier: BSD-3-Clause */
/* row_writer.c - rows of cells as aligned text, CSV or JSON lines.
 *
 * CSV follows RFC 4180. Text that a spreadsheet would take for a formula (it begins with
 * = + - @) gets an apostrophe in front, which marks it as text. Newlines are kept inside
 * quotes; other control characters become '?'. JSON keeps them. */
#include "roast/row_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "roast/json_write.h"
#include "table/grid.h"

enum { ROWS_HELD = 1000, NUMBER_BYTES = 40 };

struct roast_row_writer {
    struct roast_row_writer_options options;
    struct roast_grid grid;
    struct roast_grid_column *columns; /* owned, with copies of the names behind them */
    unsigned char *kinds;              /* owned; what each column has held so far */
    struct roast_buf out;
    struct roast_buf printable; /* of a CSV cell */
    bool aligned;               /* the first rows are written */
    bool failed;                /* out of memory */
};

enum { NUMBERS = 1, WORDS = 2 };

/* ---- CSV ------------------------------------------------------------------------- */

static void put_csv_text(struct roast_row_writer *writer, struct roast_str text)
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
    if (first < size && memchr("=+-@", data[first], 4))
        roast__put(&writer->out, "'");
    for (size_t i = 0; i < size; i++) {
        roast__buf_put(&writer->out, &data[i], 1);
        if (data[i] == '"')
            roast__put(&writer->out, "\"");
    }
    roast__put(&writer->out, quoted ? "\"" : "");
}

static void put_csv_row(struct roast_row_writer *writer, const struct roast_cell *cells)
{
    for (size_t i = 0; i < writer->options.count; i++) {
        const struct roast_cell *cell = &cells[i];
        char number[NUMBER_BYTES] = "";
        if (i > 0)
            roast__put(&writer->out, ",");
        if (cell->type == ROAST_CELL_TEXT)
            put_csv_text(writer, cell->text);
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
}

/* ---- text ------------------------------------------------------------------------ */

static struct roast_str text_of(char number[NUMBER_BYTES],
                                const struct roast_cell *cell)
{
    int size = 0;

    if (cell->type == ROAST_CELL_TEXT)
        return cell->text;
    if (cell->type == ROAST_CELL_COUNT)
        size = snprintf(number, NUMBER_BYTES, "%" PRIu64, cell->count);
    else if (cell->type == ROAST_CELL_NUMBER)
        size =
            snprintf(number, NUMBER_BYTES, cell->whole ? "%.0f" : "%.9g", cell->number);
    else
        size = snprintf(number, NUMBER_BYTES, "%s",
                        cell->type != ROAST_CELL_BOOL ? "-"
                        : cell->count != 0            ? "yes"
                                                      : "no");
    return (struct roast_str){number, (size_t)size};
}

static void write_out(struct roast_row_writer *writer)
{
    writer->failed |= !roast__buf_ok(&writer->out);
    if (!writer->failed)
        writer->options.put(writer->options.context, writer->out.data,
                            writer->out.size_bytes);
    roast__buf_clear(&writer->out);
}

static void write_held(struct roast_row_writer *writer)
{
    for (size_t i = 0; !writer->aligned && i < writer->options.count; i++)
        writer->columns[i].right = writer->kinds[i] == NUMBERS ||
                                   (i < 64 && writer->options.right_columns >> i & 1);
    writer->aligned = true;
    roast__grid_write(&writer->out, &writer->grid);
    write_out(writer);
}

static void put_text_row(struct roast_row_writer *writer,
                         const struct roast_cell *cells)
{
    for (size_t i = 0; i < writer->options.count; i++) {
        char number[NUMBER_BYTES];
        enum roast_cell_type type = cells[i].type;
        roast__grid_put(&writer->grid, text_of(number, &cells[i]));
        if (type == ROAST_CELL_TEXT || type == ROAST_CELL_BOOL)
            writer->kinds[i] |= WORDS;
        else if (type != ROAST_CELL_ABSENT)
            writer->kinds[i] |= NUMBERS;
    }
    if (roast__grid_rows(&writer->grid) == ROWS_HELD)
        write_held(writer);
}

/* ---- all formats ----------------------------------------------------------------- */

roast_row_writer *roast_row_writer_new(const struct roast_row_writer_options *options)
{
    struct roast_row_writer *writer = roast__alloc(sizeof(*writer));
    size_t size = options->count * sizeof(writer->columns[0]);

    if (!writer)
        return NULL;
    for (size_t i = 0; i < options->count; i++)
        size += strlen(options->names[i]) + 1;
    writer->options = *options;
    writer->columns = roast__alloc(size);
    writer->kinds = roast__alloc(options->count);
    if (!writer->columns || !writer->kinds) {
        roast__free(writer->columns);
        roast__free(writer->kinds);
        roast__free(writer);
        return NULL;
    }
    char *name = (char *)&writer->columns[options->count];
    for (size_t i = 0; i < options->count; i++) {
        writer->columns[i].heading = name;
        name = stpcpy(name, options->names[i]) + 1;
    }
    writer->grid = (struct roast_grid){.columns = writer->columns,
                                       .column_count = options->count,
                                       .wide = true,
                                       .before_head = options->before_head,
                                       .after_head = options->after_head};
    if (options->format != ROAST_FORMAT_CSV)
        return writer;
    for (size_t i = 0; i < options->count; i++) {
        roast__put(&writer->out, i > 0 ? "," : "");
        put_csv_text(writer, roast_str_of(options->names[i]));
    }
    roast__put(&writer->out, "\r\n");
    write_out(writer);
    return writer;
}

void roast_row_writer_put(roast_row_writer *writer, const struct roast_cell *cells)
{
    const struct roast_row_writer_options *options = &writer->options;
    struct roast_json json = {.put = options->put, .context = options->context};

    if (options->format == ROAST_FORMAT_TEXT) {
        put_text_row(writer, cells);
    } else if (options->format == ROAST_FORMAT_CSV) {
        put_csv_row(writer, cells);
        write_out(writer);
    } else {
        roast_json_open(&json, '{');
        for (size_t i = 0; i < options->count; i++) {
            roast_json_key(&json, roast_str_of(writer->columns[i].heading));
            roast_json_cell(&json, &cells[i]);
        }
        roast_json_close(&json, '}');
        options->put(options->context, "\n", 1);
    }
}

bool roast_row_writer_finish(roast_row_writer *writer)
{
    if (!writer)
        return true;
    if (writer->options.format == ROAST_FORMAT_TEXT &&
        (!writer->aligned || roast__grid_rows(&writer->grid) > 0))
        write_held(writer);
    bool done = !writer->failed;
    roast__buf_release(&writer->out);
    roast__buf_release(&writer->printable);
    roast__grid_release(&writer->grid);
    roast__free(writer->columns);
    roast__free(writer->kinds);
    roast__free(writer);
    return done;
}
