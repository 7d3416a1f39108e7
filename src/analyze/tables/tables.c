/* SPDX-License-Identifier: BSD-3-Clause */
/* tables.c - the tables of a summary while they are filled.
 *
 * Texts lie in blocks that never move, so cells can point to them at once. Out of
 * memory is noted in the summary; from then on rows go to a spare one. */
#include <string.h>

#include "analyze/summary.h"
#include "base/mem.h"
#include "base/str.h"

enum { TEXT_BLOCK_BYTES = 16 * 1024 };

struct roast_text_block {
    struct roast_text_block *older;
    size_t used_bytes;
    size_t cap_bytes;
    _Alignas(struct roast_cell) char bytes[];
};

/* ---- texts ----------------------------------------------------------------------- */

void *roast__summary_memory(struct roast_summary *summary, size_t bytes, size_t aligned)
{
    struct roast_text_block *block = summary->texts;
    size_t cap = bytes > TEXT_BLOCK_BYTES ? bytes : TEXT_BLOCK_BYTES;
    size_t from = block ? (block->used_bytes + aligned - 1) & ~(aligned - 1) : 0;

    if (!block || from > block->cap_bytes || block->cap_bytes - from < bytes) {
        block = roast__realloc(NULL, sizeof(*block) + cap);
        if (!block) {
            summary->failed = true;
            return NULL;
        }
        *block = (struct roast_text_block){summary->texts, 0, cap};
        summary->texts = block;
        from = 0;
    }
    block->used_bytes = from + bytes;
    return block->bytes + from;
}

/* Copies a text, so that it lives as long as the summary. */
static struct roast_str keep(struct roast_summary *summary, struct roast_str text)
{
    char *copy = text.data ? roast__summary_memory(summary, text.size_bytes, 1) : NULL;

    if (!copy)
        return (struct roast_str){NULL, 0};
    memcpy(copy, text.data, text.size_bytes);
    return (struct roast_str){copy, text.size_bytes};
}

/* ---- cells ----------------------------------------------------------------------- */

struct roast_cell roast__cell_number(double number)
{
    if (!isfinite(number))
        return (struct roast_cell){.type = ROAST_CELL_ABSENT};
    return (struct roast_cell){.type = ROAST_CELL_NUMBER, .number = number};
}

struct roast_cell roast__cell_sum(double sum)
{
    if (!(sum >= 0 && sum < 0x1p63))
        return (struct roast_cell){.type = ROAST_CELL_ABSENT};
    return roast__cell_count((uint64_t)sum);
}

struct roast_cell roast__cell_text(struct roast_summary *summary, struct roast_str text)
{
    struct roast_str copy = keep(summary, text);

    if (!copy.data)
        return (struct roast_cell){.type = ROAST_CELL_ABSENT};
    return (struct roast_cell){.type = ROAST_CELL_TEXT, .text = copy};
}

struct roast_cell roast__cell_list(struct roast_summary *summary,
                                   struct roast_cell **items, size_t count)
{
    *items = roast__summary_memory(summary, count * sizeof(**items),
                                   _Alignof(struct roast_cell));
    if (!*items)
        count = 0;
    for (size_t i = 0; i < count; i++)
        (*items)[i] = (struct roast_cell){.type = ROAST_CELL_ABSENT};
    return (struct roast_cell){.type = ROAST_CELL_LIST, .list = {*items, count}};
}

void roast__metric_set(struct roast_metric_values *values, enum roast_metric metric,
                       double value)
{
    if (!isfinite(value))
        return;
    values->known[metric] = true;
    values->value[metric] = value;
    values->why[metric] = NULL;
}

double roast__summary_metric(const struct roast_summary *summary,
                             enum roast_metric metric)
{
    const struct roast_metric_values *values = &summary->values;

    return values->known[metric] ? values->value[metric] : NAN;
}

void roast__metric_mark(struct roast_metric_values *values, enum roast_metric metric,
                        enum roast_metric_kind kind)
{
    if (kind > roast_metric_kind(values, metric))
        values->kind[metric] = (unsigned char)kind;
}

/* ---- tables ---------------------------------------------------------------------- */

size_t roast__table_open(struct roast_summary *summary, const char *name,
                         enum roast_table_shape shape, const char *const *columns,
                         size_t column_count)
{
    size_t number = summary->table_count++;

    summary->tables[number] = (struct roast_table){
        .name = name,
        .shape = shape,
        .columns = columns,
        .column_count = column_count,
    };
    return number;
}

static bool grow(struct roast_sheet *sheet, size_t column_count, size_t cap)
{
    size_t row_bytes = column_count * sizeof(sheet->cells[0]);
    struct roast_cell *cells = roast__realloc(sheet->cells, cap * row_bytes);

    if (!cells)
        return false;
    sheet->cells = cells;
    sheet->cap = cap;
    return true;
}

void roast__table_reserve(struct roast_summary *summary, size_t number, size_t rows)
{
    struct roast_sheet *sheet = &summary->sheets[number];

    if (rows > sheet->cap && !grow(sheet, summary->tables[number].column_count, rows))
        summary->failed = true;
}

struct roast_cell *roast__table_row(struct roast_summary *summary, size_t number)
{
    struct roast_table *table = &summary->tables[number];
    struct roast_sheet *sheet = &summary->sheets[number];
    size_t row_bytes = table->column_count * sizeof(sheet->cells[0]);
    size_t more = sheet->cap > 0 ? sheet->cap * 2 : 1;

    if (summary->failed) /* its table may have lost its columns */
        return summary->spare;
    if (table->row_count == sheet->cap && !grow(sheet, table->column_count, more)) {
        summary->failed = true;
        return summary->spare;
    }
    struct roast_cell *row = sheet->cells + table->row_count * table->column_count;
    memset(row, 0, row_bytes);
    table->cells = sheet->cells;
    table->row_count++;
    return row;
}

void roast__table_single(struct roast_summary *summary, const char *name,
                         const char *const *columns, const uint64_t *counts,
                         size_t count)
{
    size_t number = roast__table_open(summary, name, ROAST_TABLE_SINGLE, NULL, count);
    const char **copy = roast__alloc(count * sizeof(copy[0]));

    if (!copy) {
        summary->failed = true;
        summary->tables[number].column_count = 0;
        return;
    }
    summary->sheets[number].columns = copy;
    summary->tables[number].columns = copy;
    if (count == 0)
        return;
    struct roast_cell *row = roast__table_row(summary, number);
    for (size_t i = 0; i < count; i++) {
        copy[i] = columns[i];
        row[i] = roast__cell_count(counts[i]);
    }
}

const struct roast_cell *roast__table_cell(const struct roast_table *table, size_t row,
                                           const char *column)
{
    static const struct roast_cell absent = {.type = ROAST_CELL_ABSENT};

    for (size_t i = 0; table && row < table->row_count && i < table->column_count;
         i++) {
        if (strcmp(table->columns[i], column) == 0)
            return &table->cells[row * table->column_count + i];
    }
    return &absent;
}

double roast__table_number(const struct roast_table *table, size_t row,
                           const char *column)
{
    const struct roast_cell *cell = roast__table_cell(table, row, column);

    if (cell->type == ROAST_CELL_COUNT)
        return (double)cell->count;
    return cell->type == ROAST_CELL_NUMBER ? cell->number : NAN;
}

size_t roast__table_count(const struct roast_table *table, const char *column,
                          const char *text)
{
    size_t count = 0;

    for (size_t row = 0; table && row < table->row_count; row++) {
        const struct roast_cell *cell = roast__table_cell(table, row, column);
        count += cell->type == ROAST_CELL_TEXT && roast__str_is(cell->text, text);
    }
    return count;
}

static size_t table_named(const struct roast_summary *summary, const char *name)
{
    size_t number = 0;

    while (number < summary->table_count &&
           strcmp(summary->tables[number].name, name) != 0)
        number++;
    return number;
}

void roast__summary_miss(struct roast_summary *summary, const char *name,
                         const char *why)
{
    static const char *const columns[] = {"name", "why"};
    size_t table = table_named(summary, ROAST_TABLE_UNAVAILABLE);

    if (table == summary->table_count)
        table = roast__table_open(summary, ROAST_TABLE_UNAVAILABLE, ROAST_TABLE_LIST,
                                  columns, 2);
    struct roast_cell *row = roast__table_row(summary, table);
    row[0] = roast__cell_text(summary, roast_str_of(name));
    row[1] = roast__cell_text(summary, roast_str_of(why));
}

/* ---- public ---------------------------------------------------------------------- */

const struct roast_metric_values *roast_summary_metrics(const roast_summary *summary)
{
    return &summary->values;
}

const struct roast_table *roast_summary_tables(const roast_summary *summary,
                                               size_t *count)
{
    *count = summary->table_count;
    return summary->tables;
}

const struct roast_table *roast_summary_table(const roast_summary *summary,
                                              const char *name)
{
    size_t number = table_named(summary, name);

    return number < summary->table_count ? &summary->tables[number] : NULL;
}

void roast_summary_free(roast_summary *summary)
{
    if (!summary)
        return;
    for (size_t i = 0; i < summary->table_count; i++) {
        roast__free(summary->sheets[i].cells);
        roast__free(summary->sheets[i].columns);
    }
    for (struct roast_text_block *block = summary->texts, *older; block;
         block = older) {
        older = block->older;
        roast__free(block);
    }
    roast__free(summary);
}
