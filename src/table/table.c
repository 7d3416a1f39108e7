/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c - reading tables, by row and column or column by column. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "table/internal.h"

roast_table *roast_table_hold(roast_table *table)
{
    atomic_fetch_add_explicit(&table->references, 1, memory_order_relaxed);
    return table;
}

static void release_column(struct roast_stored_column *column)
{
    roast__free(column->values);
    roast__strings_release(&column->words);
    roast__free(column->joined);
    if (column->info.word_count > 0)
        roast__free((void *)(column->info.ends - 1));
}

void roast_table_free(roast_table *table)
{
    if (!table ||
        atomic_fetch_sub_explicit(&table->references, 1, memory_order_acq_rel) > 1)
        return;
    for (size_t i = 0; i < table->count; i++)
        release_column(&table->columns[i]);
    roast__free(table->zeros);
    roast__free(table);
}

void roast__table_drop(roast_table *table, int col)
{
    struct roast_stored_column *column = &table->columns[col - table->first];

    release_column(column);
    table->count--;
    memmove(column, column + 1,
            (table->count - (size_t)(col - table->first)) * sizeof(*column));
}

size_t roast_table_rows(const roast_table *table)
{
    return table ? table->rows : 0;
}

size_t roast_table_width(const roast_table *table)
{
    return table ? table->count : 0;
}

const struct roast_table_column *roast_table_column(const roast_table *table,
                                                    size_t column)
{
    return &table->columns[column].info;
}

int roast_table_col(const roast_table *table, size_t column)
{
    return table->first + (int)column;
}

/* ---- one value ------------------------------------------------------------------- */

/* NULL: the value is not known. */
static const struct roast_stored_column *column_with(const roast_table *table,
                                                     size_t row, int col)
{
    if (!table || row >= table->rows)
        return NULL;
    assert(col >= table->first && (size_t)(col - table->first) < table->count);
    const struct roast_stored_column *column = &table->columns[col - table->first];
    bool known = column->known > 0 && (column->valid[row >> 3] >> (row & 7) & 1) != 0;
    return known ? column : NULL;
}

bool roast_table_known(const roast_table *table, size_t row, int col)
{
    return column_with(table, row, col) != NULL;
}

bool roast_table_int(int64_t *value, const roast_table *table, size_t row, int col)
{
    const struct roast_stored_column *column = column_with(table, row, col);

    if (!column)
        return false;
    assert(column->info.type == ROAST_DTYPE_INT64 ||
           column->info.type == ROAST_DTYPE_TIME);
    *value = ((const int64_t *)(const void *)column->values)[row];
    return true;
}

bool roast_table_flag(const roast_table *table, size_t row, int col)
{
    const struct roast_stored_column *column = column_with(table, row, col);

    assert(!column || column->info.type == ROAST_DTYPE_BOOL);
    return column && column->values[row] != 0;
}

double roast_table_number(const roast_table *table, size_t row, int col)
{
    const struct roast_stored_column *column = column_with(table, row, col);

    if (!column)
        return NAN;
    switch (column->info.type) {
    case ROAST_DTYPE_INT64:
    case ROAST_DTYPE_TIME:
        return (double)((const int64_t *)(const void *)column->values)[row];
    case ROAST_DTYPE_DOUBLE:
        return ((const double *)(const void *)column->values)[row];
    case ROAST_DTYPE_BOOL:
        return column->values[row];
    case ROAST_DTYPE_TEXT:
        break;
    }
    assert(false); /* a text has no number */
    return NAN;
}

struct roast_str roast_table_text(const roast_table *table, size_t row, int col)
{
    const struct roast_stored_column *column = column_with(table, row, col);

    if (!column)
        return (struct roast_str){NULL, 0};
    assert(column->info.type == ROAST_DTYPE_TEXT);
    return roast__strings_get(&column->words,
                              ((const int32_t *)(const void *)column->values)[row]);
}

bool roast_table_item(struct roast_str *item, struct roast_str *list)
{
    if (list->size_bytes == 0)
        return false;
    const char *end = memchr(list->data, '\0', list->size_bytes);
    size_t size = end ? (size_t)(end - list->data) : list->size_bytes;
    *item = (struct roast_str){list->data, size};
    size += end != NULL;
    list->data += size;
    list->size_bytes -= size;
    return true;
}

/* A row adds at most one word, so word n is in row n or later. */
size_t roast__table_find(const roast_table *table, int col, struct roast_str text)
{
    size_t rows = roast_table_rows(table);
    int32_t word =
        table && text.data
            ? roast__strings_find(&table->columns[col - table->first].words, text)
            : ROAST_NO_STRING;

    for (size_t row = word >= 0 ? (size_t)word : rows; row < rows; row++) {
        const struct roast_stored_column *column = column_with(table, row, col);
        if (column && ((const int32_t *)(const void *)column->values)[row] == word)
            return row;
    }
    return rows;
}

size_t roast__table_count(const roast_table *table, int col, const char *text)
{
    size_t count = 0;

    for (size_t row = 0; row < roast_table_rows(table); row++)
        count += roast__str_is(roast_table_text(table, row, col), text);
    return count;
}

/* ---- cells ----------------------------------------------------------------------- */

struct roast_cell roast_column_cell(const struct roast_table_column *column, size_t row)
{
    if (column->valid && !(column->valid[row >> 3] >> (row & 7) & 1))
        return (struct roast_cell){.type = ROAST_CELL_ABSENT};
    switch (column->type) {
    case ROAST_DTYPE_INT64:
    case ROAST_DTYPE_TIME: {
        int64_t value = ((const int64_t *)column->values)[row];
        if (value < 0)
            return (struct roast_cell){
                .type = ROAST_CELL_NUMBER, .whole = true, .number = (double)value};
        return (struct roast_cell){.type = ROAST_CELL_COUNT, .count = (uint64_t)value};
    }
    case ROAST_DTYPE_DOUBLE:
        return (struct roast_cell){.type = ROAST_CELL_NUMBER,
                                   .number = ((const double *)column->values)[row]};
    case ROAST_DTYPE_BOOL:
        return (struct roast_cell){.type = ROAST_CELL_BOOL,
                                   .count =
                                       ((const unsigned char *)column->values)[row]};
    case ROAST_DTYPE_TEXT:
        break;
    }
    int32_t word = ((const int32_t *)column->values)[row];
    int64_t from = column->ends[word - 1];
    size_t size = (size_t)(column->ends[word] - from);
    return (struct roast_cell){.type = ROAST_CELL_TEXT,
                               .text = {size > 0 ? column->words + from : "", size}};
}
