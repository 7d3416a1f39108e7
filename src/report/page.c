/* SPDX-License-Identifier: BSD-3-Clause */
/* page.c - reading the tables of a summary, and the end of every page. */
#include "report/page.h"

#include <math.h>

int roast__page_finish(struct roast_page *out, struct roast_buf *buf, roast_error *err)
{
    size_t size_bytes = buf->size_bytes;

    roast__buf_put(buf, "", 1); /* for those who print it as a C string */
    *out = (struct roast_page){NULL, 0};
    if (!roast__buf_ok(buf)) {
        roast__buf_release(buf);
        return roast_error_set(err, ROAST_NO_MEMORY, "a page of %zu bytes", size_bytes);
    }
    out->text = (char *)buf->data; /* moved to the caller */
    out->size_bytes = size_bytes;
    return ROAST_OK;
}

bool roast__metric(double *value, const struct roast_shown *shown,
                   enum roast_metric metric)
{
    *value = shown->values->value[metric];
    return shown->values->known[metric] && isfinite(*value);
}

const struct roast_table *roast__find_table(const struct roast_shown *shown,
                                            const char *name)
{
    for (size_t i = 0; i < shown->table_count; i++)
        if (strcmp(shown->tables[i].name, name) == 0)
            return &shown->tables[i];
    return NULL;
}

struct roast_cell roast__cell(const struct roast_table *table, size_t row,
                              const char *column)
{
    struct roast_cell absent = {.type = ROAST_CELL_ABSENT};

    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i], column) == 0)
            return table->cells[row * table->column_count + i];
    return absent;
}

double roast__shown_number(struct roast_cell cell)
{
    if (cell.type == ROAST_CELL_NUMBER)
        return cell.number;
    if (cell.type == ROAST_CELL_COUNT || cell.type == ROAST_CELL_BOOL)
        return (double)cell.count;
    return NAN;
}

struct roast_str roast__text_or(struct roast_cell cell, const char *other)
{
    bool there = cell.type == ROAST_CELL_TEXT && cell.text.data;

    return there ? cell.text : roast_str_of(other);
}
