/* SPDX-License-Identifier: BSD-3-Clause */
/* encode.c - tables as bytes, and back.
 *
 *     varint   layout, 1
 *     varint   tables; each: text name, varint rows, varint columns
 *     column   one with a known value: text name, varint type, varint bytes, then so
 *              many: of TEXT, varint words and the words; then row by row
 *              INT64, TIME  varint: 0 not known, 1 + zigzag
 *              DOUBLE       a byte: 0 not known, 1 and 8 bytes (IEEE 754, little
 *                           endian), 2 zero
 *              BOOL         varint: 0 not known, 1 false, 2 true
 *              TEXT         varint: 0 not known, 1 + number of the word
 *     text     varint bytes, UTF-8
 *
 * Tables and columns are found by name, so another version reads those that it knows. A
 * value takes at least a byte: decoding takes little more than nine times the memory of
 * the bytes. */
#include "table/encode.h"

#include <string.h>

#include "base/bytes.h"
#include "table/internal.h"

enum { LAYOUT = 1 };

/* ---- encoding -------------------------------------------------------------------- */

static void put_text(struct roast_buf *out, struct roast_str text)
{
    roast__buf_put_varint(out, text.size_bytes);
    roast__buf_put(out, text.data, text.size_bytes);
}

static void put_value(struct roast_buf *out, const struct roast_stored_column *column,
                      size_t row)
{
    const void *values = column->values;
    uint64_t bits;

    if (!(column->valid[row >> 3] >> (row & 7) & 1)) {
        roast__buf_put_varint(out, 0);
        return;
    }
    switch (column->info.type) {
    case ROAST_DTYPE_INT64: /* INT64_MIN becomes unknown */
    case ROAST_DTYPE_TIME:
        roast__buf_put_varint(out, 1 + roast__zigzag(((const int64_t *)values)[row]));
        break;
    case ROAST_DTYPE_DOUBLE:
        memcpy(&bits, &((const double *)values)[row], sizeof(bits));
        roast__buf_put_varint(out, bits != 0 ? 1 : 2);
        if (bits != 0)
            roast__buf_put_fixed64(out, bits);
        break;
    case ROAST_DTYPE_BOOL:
        roast__buf_put_varint(out, 1 + (uint64_t)(column->values[row] != 0));
        break;
    case ROAST_DTYPE_TEXT:
        roast__buf_put_varint(out, 1 + (uint64_t)((const int32_t *)values)[row]);
        break;
    }
}

static void put_column(struct roast_buf *out, const roast_table *table, size_t number)
{
    const struct roast_stored_column *column = &table->columns[number];
    struct roast_buf bytes = {0};

    if (column->info.type == ROAST_DTYPE_TEXT)
        roast__buf_put_varint(&bytes, column->words.count);
    for (size_t i = 0; i < column->words.count; i++)
        put_text(&bytes, roast__strings_get(&column->words, (int32_t)i));
    for (size_t row = 0; row < table->rows; row++)
        put_value(&bytes, column, row);
    put_text(out, roast_str_of(column->info.name));
    roast__buf_put_varint(out, column->info.type);
    roast__buf_put_varint(out, bytes.size_bytes);
    roast__buf_put(out, bytes.data, bytes.size_bytes);
    out->failed |= bytes.failed;
    roast__buf_release(&bytes);
}

void roast__tables_encode(struct roast_buf *out, roast_tables tables)
{
    size_t count = 0;

    for (int id = 0; id < ROAST_TABLE_COUNT; id++)
        count += tables[id] != NULL;
    roast__buf_put_varint(out, LAYOUT);
    roast__buf_put_varint(out, count);
    for (int id = 0; id < ROAST_TABLE_COUNT; id++) {
        const roast_table *table = tables[id];
        if (!table)
            continue;
        put_text(out, roast_str_of(roast_table_name(table->id)));
        roast__buf_put_varint(out, table->rows);
        size_t known = 0;
        for (size_t i = 0; i < table->count; i++)
            known += table->columns[i].known > 0;
        roast__buf_put_varint(out, known);
        for (size_t i = 0; i < table->count; i++) {
            if (table->columns[i].known > 0)
                put_column(out, table, i);
        }
    }
}

/* ---- decoding -------------------------------------------------------------------- */

static struct roast_str read_text(struct roast_cursor *in)
{
    uint64_t size = roast__cursor_varint(in);
    const unsigned char *bytes = roast__cursor_bytes(in, size);

    return bytes ? (struct roast_str){(const char *)bytes, (size_t)size}
                 : (struct roast_str){"", 0};
}

static bool is_named(const char *name, struct roast_str text)
{
    return strlen(name) == text.size_bytes &&
           memcmp(name, text.data, text.size_bytes) == 0;
}

static void read_value(struct roast_cursor *in, roast_table *table, int col,
                       enum roast_dtype type)
{
    const struct roast_stored_column *column = &table->columns[col - table->first];
    uint64_t number = roast__cursor_varint(in), bits;
    double value;

    if (number == 0)
        return;
    switch (type) {
    case ROAST_DTYPE_INT64:
    case ROAST_DTYPE_TIME:
        roast__fill_int(table, col, roast__unzigzag(number - 1));
        break;
    case ROAST_DTYPE_DOUBLE:
        bits = number == 1 ? roast__cursor_fixed64(in) : 0;
        memcpy(&value, &bits, sizeof(value));
        roast__fill_number(table, col, value);
        break;
    case ROAST_DTYPE_BOOL:
        roast__fill_bool(table, col, number > 1);
        break;
    case ROAST_DTYPE_TEXT:
        if (number > column->words.count)
            in->failed = true;
        else
            roast__fill_word(table, col, (int32_t)(number - 1));
        break;
    }
}

/* Values go to the last row, so each column starts again at row 1. */
static void read_column(struct roast_cursor *in, roast_table *table, size_t rows)
{
    struct roast_str name = read_text(in);
    uint64_t type = roast__cursor_varint(in);
    uint64_t size = roast__cursor_varint(in);
    const unsigned char *bytes = roast__cursor_bytes(in, size);
    size_t number = 0;

    while (table && number < table->count &&
           !is_named(table->columns[number].info.name, name))
        number++;
    if (!bytes || size == 0 || !table || number == table->count ||
        type != table->columns[number].info.type || table->columns[number].known > 0)
        return;
    if (size < rows) {
        in->failed = true;
        return;
    }
    struct roast_cursor part = roast__cursor(bytes, (size_t)size);
    int col = table->first + (int)number;
    uint64_t words = type == ROAST_DTYPE_TEXT ? roast__cursor_varint(&part) : 0;
    for (uint64_t i = 0; i < words && !part.failed && !table->failed; i++) {
        int32_t word = roast__table_word(table, col, read_text(&part));
        part.failed |= word >= 0 && (uint64_t)word != i; /* a repeated word */
    }
    for (table->rows = 1; table->rows <= rows && !part.failed; table->rows++)
        read_value(&part, table, col, (enum roast_dtype)type);
    table->rows = rows;
    in->failed |= part.failed || roast__cursor_remaining(&part) > 0;
}

struct decoder {
    struct roast_cursor in;
    uint64_t rows_left; /* limit of further rows */
    bool no_memory;
};

static void read_table(struct decoder *decoder, roast_tables tables)
{
    struct roast_cursor *in = &decoder->in;
    struct roast_str name = read_text(in);
    uint64_t rows = roast__cursor_varint(in);
    uint64_t columns = roast__cursor_varint(in);
    roast_table *table = NULL;
    int id = 0;

    while (id < ROAST_TABLE_COUNT &&
           !is_named(roast_table_name((enum roast_table_id)id), name))
        id++;
    bool known = id < ROAST_TABLE_COUNT;
    in->failed |= rows > decoder->rows_left || columns > roast__cursor_remaining(in) ||
                  (known && tables[id]);
    if (in->failed)
        return;
    decoder->rows_left -= rows;
    if (known)
        tables[id] = table = roast__table_new((enum roast_table_id)id, (size_t)rows);
    for (uint64_t i = 0; i < columns && !in->failed; i++)
        read_column(in, table, (size_t)rows);
    decoder->no_memory |= known && !roast__table_ok(table);
    if (table)
        table->rows = (size_t)rows;
}

void roast__tables_release(roast_tables tables)
{
    for (int id = 0; id < ROAST_TABLE_COUNT; id++) {
        roast_table_free(tables[id]);
        tables[id] = NULL;
    }
}

int roast__tables_decode(roast_tables tables, struct roast_str bytes, roast_error *err)
{
    struct decoder decoder = {roast__cursor(bytes.data, bytes.size_bytes),
                              bytes.size_bytes + ROAST_TABLE_COUNT, false};
    uint64_t layout = roast__cursor_varint(&decoder.in);
    int status = ROAST_OK;

    if (layout > LAYOUT)
        return roast_error_set(err, ROAST_NEWER_FORMAT, "tables of layout %u",
                               (unsigned)layout);
    uint64_t count = roast__cursor_varint(&decoder.in);
    for (uint64_t i = 0; i < count && !decoder.in.failed && !decoder.no_memory; i++)
        read_table(&decoder, tables);
    decoder.in.failed |= roast__cursor_remaining(&decoder.in) > 0;
    if (decoder.no_memory)
        status = roast_error_set(err, ROAST_NO_MEMORY, "tables of %zu bytes",
                                 bytes.size_bytes);
    else if (decoder.in.failed)
        status = roast_error_set(err, ROAST_BAD_DATA, "tables of %zu bytes",
                                 bytes.size_bytes);
    for (int id = 0; id < ROAST_TABLE_COUNT && status == ROAST_OK; id++) {
        if (tables[id])
            status = roast__table_finish(&tables[id], err);
    }
    if (status < 0)
        roast__tables_release(tables);
    return status;
}
