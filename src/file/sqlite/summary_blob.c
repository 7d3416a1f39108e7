/* SPDX-License-Identifier: BSD-3-Clause */
/* summary_blob.c - a summary as bytes, and back.
 *
 *     varint    layout, 1
 *     varint    metrics; each: text name, varint 0: not known, 1 + kind of the source
 *               (exact, sampled, estimated), then 8 bytes (IEEE 754, little endian) if
 *               known, else the text of the reason (empty: none)
 *     varint    tables; each: text name, varint shape, varint columns, their names,
 *               varint rows, then the cells row by row
 *     cell      varint type, then BOOL, COUNT: varint; NUMBER: 8 bytes; TEXT: text;
 *               LIST: varint count and cells that are no lists
 *     text      varint bytes, UTF-8
 *
 * Metrics go by name: a version that knows others shows what both know. */
#include "file/sqlite/summary_blob.h"

#include "analyze/summary.h"
#include "base/mem.h"

enum {
    LAYOUT = 1,
    LEAST_CELL_BYTES = 1,
    /* Of memory for cells, by byte of the file. One that is absent takes a byte in the
     * summary and 24 in memory; every table that can be long is in the file as rows too,
     * which take a byte per cell and five more. So real ones never take more than this,
     * and what is made to is worked out again. */
    CELLS_PER_BYTE = 12,
    CELLS_ALWAYS_BYTES = 32 << 10,
};

/* ---- to bytes -------------------------------------------------------------------- */

static void put_text(struct roast_buf *out, struct roast_str text)
{
    roast__buf_put_varint(out, text.size_bytes);
    roast__buf_put(out, text.data, text.size_bytes);
}

static void put_double(struct roast_buf *out, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    roast__buf_put_fixed64(out, bits);
}

static void put_metrics(struct roast_buf *out, const struct roast_metric_values *values)
{
    roast__buf_put_varint(out, ROAST_METRIC_COUNT);
    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        put_text(out, roast_str_of(roast_metric_info((enum roast_metric)i)->name));
        roast__buf_put_varint(out,
                              values->known[i] ? 1 + (uint64_t)values->kind[i] : 0);
        if (values->known[i])
            put_double(out, values->value[i]);
        else
            put_text(out, roast_str_of(values->why[i] ? values->why[i] : ""));
    }
}

static void put_cell(struct roast_buf *out, const struct roast_cell *cell)
{
    roast__buf_put_varint(out, (uint64_t)cell->type);
    switch (cell->type) {
    case ROAST_CELL_BOOL:
    case ROAST_CELL_COUNT:
        roast__buf_put_varint(out, cell->count);
        break;
    case ROAST_CELL_LIST:
        roast__buf_put_varint(out, cell->list.count);
        break;
    case ROAST_CELL_NUMBER:
        put_double(out, cell->number);
        break;
    case ROAST_CELL_TEXT:
        put_text(out, cell->text);
        break;
    case ROAST_CELL_ABSENT:
        break;
    }
}

static void put_table(struct roast_buf *out, const struct roast_table *table)
{
    size_t cells = table->row_count * table->column_count;

    put_text(out, roast_str_of(table->name));
    roast__buf_put_varint(out, (uint64_t)table->shape);
    roast__buf_put_varint(out, table->column_count);
    for (size_t i = 0; i < table->column_count; i++)
        put_text(out, roast_str_of(table->columns[i]));
    roast__buf_put_varint(out, table->row_count);
    for (size_t i = 0; i < cells; i++) {
        const struct roast_cell *cell = &table->cells[i];
        put_cell(out, cell);
        uint64_t items = cell->type == ROAST_CELL_LIST ? cell->list.count : 0;
        for (uint64_t k = 0; k < items; k++)
            put_cell(out, &cell->list.items[k]);
    }
}

void roast__summary_pack(struct roast_buf *out, const roast_summary *summary)
{
    size_t count;
    const struct roast_table *tables = roast_summary_tables(summary, &count);

    roast__buf_put_varint(out, LAYOUT);
    put_metrics(out, roast_summary_metrics(summary));
    roast__buf_put_varint(out, count);
    for (size_t i = 0; i < count; i++)
        put_table(out, &tables[i]);
}

/* ---- and back -------------------------------------------------------------------- */

/* Bytes that are read into a summary. Failures stick: the cursor's are bad bytes, the
 * summary's are memory. */
struct reading {
    struct roast_cursor cur;
    struct roast_summary *summary;
    uint64_t cells_left; /* that may still be made */
    bool too_large;
};

static struct roast_str read_text(struct reading *in)
{
    uint64_t size = roast__cursor_varint(&in->cur);
    const unsigned char *bytes = roast__cursor_bytes(&in->cur, size);

    return bytes ? (struct roast_str){(const char *)bytes, (size_t)size}
                 : (struct roast_str){"", 0};
}

/* A text of its own with a NUL behind it. */
static const char *read_word(struct reading *in)
{
    struct roast_str text = read_text(in);
    char *word = roast__summary_memory(in->summary, text.size_bytes + 1, 1);

    if (!word)
        return "";
    memcpy(word, text.data, text.size_bytes);
    word[text.size_bytes] = '\0';
    return word;
}

static double read_double(struct reading *in)
{
    uint64_t bits = roast__cursor_fixed64(&in->cur);
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* Fewer than the bytes that are left, each of them being at least one; else it fails. */
static size_t read_count(struct reading *in)
{
    uint64_t count = roast__cursor_varint(&in->cur);

    if (count > roast__cursor_left(&in->cur) / LEAST_CELL_BYTES) {
        in->cur.failed = true;
        return 0;
    }
    return (size_t)count;
}

/* Whether there is room for so many cells more; else it fails. */
static bool spend(struct reading *in, uint64_t cells)
{
    in->too_large |= cells > in->cells_left;
    in->cur.failed |= in->too_large;
    if (!in->cur.failed)
        in->cells_left -= cells;
    return !in->cur.failed;
}

static int metric_named(struct roast_str name)
{
    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        const char *known = roast_metric_info((enum roast_metric)i)->name;
        if (strlen(known) == name.size_bytes &&
            memcmp(known, name.data, name.size_bytes) == 0)
            return i;
    }
    return -1;
}

/* One that only a later version knows is as bad as any. */
static enum roast_metric_kind kind_of(uint64_t number)
{
    return number < ROAST_ESTIMATED ? (enum roast_metric_kind)number : ROAST_ESTIMATED;
}

static void read_metric(struct reading *in)
{
    int metric = metric_named(read_text(in));
    struct roast_metric_values *values = &in->summary->values;

    uint64_t known = roast__cursor_varint(&in->cur);

    if (known != 0) {
        double value = read_double(in);
        if (metric >= 0) {
            roast__metric_set(values, (enum roast_metric)metric, value);
            roast__metric_mark(values, (enum roast_metric)metric, kind_of(known - 1));
        }
        return;
    }
    const char *why = read_word(in);
    if (metric >= 0)
        values->why[metric] = *why ? why : NULL;
}

static struct roast_cell read_cell(struct reading *in, bool may_be_list)
{
    uint64_t type = roast__cursor_varint(&in->cur);
    struct roast_cell *items;
    size_t count;

    switch (type) {
    case ROAST_CELL_ABSENT:
        break;
    case ROAST_CELL_BOOL:
        return roast__cell_bool(roast__cursor_varint(&in->cur) != 0);
    case ROAST_CELL_COUNT:
        return roast__cell_count(roast__cursor_varint(&in->cur));
    case ROAST_CELL_NUMBER:
        return roast__cell_number(read_double(in));
    case ROAST_CELL_TEXT:
        return roast__cell_text(in->summary, read_text(in));
    case ROAST_CELL_LIST:
        count = read_count(in);
        if (may_be_list && spend(in, count))
            return roast__cell_list(in->summary, &items, count);
        in->cur.failed = true;
        break;
    default:
        in->cur.failed = true;
    }
    return (struct roast_cell){.type = ROAST_CELL_ABSENT};
}

/* A list is filled after its cell is in place. */
static void read_row(struct reading *in, struct roast_cell *row, size_t count)
{
    for (size_t i = 0; i < count && !in->cur.failed; i++) {
        row[i] = read_cell(in, true);
        if (row[i].type != ROAST_CELL_LIST)
            continue;
        struct roast_cell *items = (struct roast_cell *)row[i].list.items; /* our own */
        for (uint64_t k = 0; k < row[i].list.count; k++)
            items[k] = read_cell(in, false);
    }
}

static const char **read_columns(struct reading *in, size_t count)
{
    const char **columns = roast__summary_memory(in->summary, count * sizeof(*columns),
                                                 _Alignof(const char *));

    for (size_t i = 0; columns && i < count; i++)
        columns[i] = read_word(in);
    return columns;
}

static void read_table(struct reading *in)
{
    const char *name = read_word(in);
    uint64_t shape = roast__cursor_varint(&in->cur);
    size_t column_count = read_count(in);

    if (in->cur.failed || shape > ROAST_TABLE_SCALAR ||
        column_count > ROAST_MAX_COLUMNS ||
        in->summary->table_count == ROAST_MAX_TABLES) {
        in->cur.failed = true;
        return;
    }
    const char **columns = read_columns(in, column_count);
    size_t rows = read_count(in);
    if (!columns || in->cur.failed || (column_count == 0 && rows > 0) ||
        !spend(in, (uint64_t)rows * column_count)) {
        in->cur.failed = true;
        return;
    }
    size_t table = roast__table_open(in->summary, name, (enum roast_table_shape)shape,
                                     columns, column_count);
    roast__table_reserve(in->summary, table, rows);
    for (size_t i = 0; i < rows && !in->cur.failed && !in->summary->failed; i++)
        read_row(in, roast__table_row(in->summary, table), column_count);
}

static void read_all(struct reading *in)
{
    size_t metrics = read_count(in);

    for (size_t i = 0; i < metrics && !in->cur.failed; i++)
        read_metric(in);
    size_t tables = read_count(in);
    for (size_t i = 0; i < tables && !in->cur.failed && !in->summary->failed; i++)
        read_table(in);
}

static uint64_t most_cells(uint64_t file_bytes)
{
    uint64_t most_bytes = UINT64_MAX; /* of a file without an end */

    if (file_bytes < (UINT64_MAX - CELLS_ALWAYS_BYTES) / CELLS_PER_BYTE)
        most_bytes = CELLS_ALWAYS_BYTES + file_bytes * CELLS_PER_BYTE;
    return most_bytes / sizeof(struct roast_cell);
}

int roast__summary_unpack(roast_summary **out, struct roast_str bytes,
                          uint64_t file_bytes, roast_error *err)
{
    struct reading in = {roast__cursor(bytes.data, bytes.size_bytes),
                         roast__alloc(sizeof(*in.summary)), most_cells(file_bytes),
                         false};
    int status = ROAST_OK;

    *out = NULL;
    if (!in.summary)
        return roast_error_set(err, ROAST_NO_MEMORY, "a summary");
    uint64_t layout = roast__cursor_varint(&in.cur);
    if (layout > LAYOUT) {
        status = roast_error_set(err, ROAST_NEWER_FORMAT, "summary of layout %u",
                                 (unsigned)layout);
        goto out;
    }
    read_all(&in);
    if (in.summary->failed)
        status = roast_error_set(err, ROAST_NO_MEMORY, "a summary of %zu bytes",
                                 bytes.size_bytes);
    else if (in.too_large)
        status = roast_error_set(err, ROAST_LIMIT,
                                 "a summary of %zu bytes with too many cells",
                                 bytes.size_bytes);
    else if (in.cur.failed || roast__cursor_left(&in.cur) > 0)
        status = roast_error_set(err, ROAST_BAD_DATA, "a summary of %zu bytes",
                                 bytes.size_bytes);
    if (status == ROAST_OK) {
        *out = in.summary;
        in.summary = NULL; /* moved to the caller */
    }
out:
    roast_summary_free(in.summary);
    return status;
}
