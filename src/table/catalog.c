/* SPDX-License-Identifier: BSD-3-Clause */
/* catalog.c - the lists of tables and columns.
 *
 * An item of the ladder with a key in chunk_metrics has that name; other times end in
 * `_s`. */
#include <string.h>

#include "table/table.h"

enum { ROAST_DTYPE_TEXTS = ROAST_DTYPE_TEXT + 1 }; /* only in table_columns.def */

static const struct {
    enum roast_table_id table;
    int type;
    const char *name;
    const char *unit;
    const char *text;
} columns[] = {
#define C(name, table, type, unit, text) \
    {ROAST_TABLE_##table, ROAST_DTYPE_##type, #name, #unit, text},
#include "roast/table_columns.def"
#undef C
};

static const struct {
    const char *name;
    const char *key;
    enum roast_table_shape shape;
    const char *text;
} tables[] = {
#define T(name, key, shape, maker, needs, text) \
    {#name, #key, ROAST_SHAPE_##shape, text},
#define S(name, key, shape, text) {#name, #key, ROAST_SHAPE_##shape, text},
#include "roast/tables.def"
#undef T
#undef S
};

static const struct {
    const char *plain;
    const char *in_seconds;
} items[ROAST_ITEM_COUNT] = {
#define I(number, name, kind, shown, text) {#name, #name "_s"},
#include "roast/ladder_items.def"
#undef I
};

const char *roast_table_name(enum roast_table_id id)
{
    return tables[id].name;
}

const char *roast_table_description(enum roast_table_id id)
{
    return tables[id].text;
}

const char *roast_table_key(enum roast_table_id id)
{
    return tables[id].shape != ROAST_SHAPE_NONE ? tables[id].key : NULL;
}

enum roast_table_shape roast_table_shape(enum roast_table_id id)
{
    return tables[id].shape;
}

const char *roast_col_key(int col)
{
    return col == ROAST_COL_failures_start ? "t_start" : columns[col].name;
}

int roast_table_find(const char *name)
{
    for (int i = 0; i < ROAST_RUN_TABLE_COUNT; i++) {
        if (strcmp(tables[i].name, name) == 0)
            return i;
    }
    return -1;
}

/* ---- columns --------------------------------------------------------------------- */

/* Columns are in the order of their tables. */
int roast__table_first(enum roast_table_id id)
{
    int low = 0, high = ROAST_COL_COUNT;

    while (low < high) {
        int middle = (low + high) / 2;
        if (columns[middle].table < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t fixed_columns(enum roast_table_id id)
{
    return (size_t)(roast__table_first((enum roast_table_id)(id + 1)) -
                    roast__table_first(id));
}

size_t roast__table_listed(enum roast_table_id id)
{
    return fixed_columns(id) + (id == ROAST_TABLE_chunks ? ROAST_ITEM_COUNT : 0);
}

/* The key of an item in chunk_metrics; NULL: none. */
static const char *view_key(enum roast_ladder_item item)
{
    size_t count;
    const struct roast_view *views = roast_views(&count);

    for (size_t i = 0; i < count; i++) {
        if (views[i].kind == ROAST_VIEW_ITEM && views[i].item == item)
            return views[i].key;
    }
    return NULL;
}

static struct roast_table_column item_info(enum roast_ladder_item item)
{
    const struct roast_ladder_info *info = roast_ladder_info(item);
    bool is_time = info->kind == ROAST_LADDER_SLICE || info->kind == ROAST_LADDER_TIME;
    const char *key = view_key(item);
    const char *name = is_time ? items[item].in_seconds : items[item].plain;

    return (struct roast_table_column){
        .type = is_time ? ROAST_DTYPE_DOUBLE : ROAST_DTYPE_INT64,
        .name = key ? key : name,
        .unit = is_time                            ? "s"
                : info->kind == ROAST_LADDER_BYTES ? "bytes"
                                                   : "",
        .text = info->text,
    };
}

struct roast_table_column roast__table_info(enum roast_table_id id, size_t column)
{
    size_t fixed = fixed_columns(id);

    if (column >= fixed)
        return item_info((enum roast_ladder_item)(column - fixed));
    size_t col = (size_t)roast__table_first(id) + column;
    bool is_list = columns[col].type == ROAST_DTYPE_TEXTS;
    return (struct roast_table_column){
        .type = is_list ? ROAST_DTYPE_TEXT : (enum roast_dtype)columns[col].type,
        .is_list = is_list,
        .name = columns[col].name,
        .unit = strcmp(columns[col].unit, "none") == 0 ? "" : columns[col].unit,
        .text = columns[col].text,
    };
}
