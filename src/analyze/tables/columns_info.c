/* SPDX-License-Identifier: BSD-3-Clause */
/* columns_info.c - what the tables of columns.def and their columns are called.
 *
 * An item of the ladder that chunk_metrics knows under a name of its own has that name
 * here too; any other time ends in `_s`. */
#include "analyze/tables/columns.h"
#include "analyze/tables/columns_own.h"
#include "roast/view.h"

struct info {
    enum roast_columns_table table;
    enum roast_data_type type;
    const char *name;
    const char *unit;
    const char *text;
};

static const struct info infos[] = {
#define C(name, table, type, unit, text) \
    {ROAST_COLUMNS_##table, ROAST_DATA_##type, #name, #unit, text},
#include "roast/table_columns.def"
#undef C
};

static const struct {
    const char *plain;
    const char *in_seconds;
} items[ROAST_ITEM_COUNT] = {
#define I(number, name, kind, shown, text) {#name, #name "_s"},
#include "roast/ladder_items.def"
#undef I
};

static const char *const table_names[] = {
#define T(name, text) #name,
#include "roast/columns.def"
#undef T
};

static const char *const table_texts[] = {
#define T(name, text) text,
#include "roast/columns.def"
#undef T
};

const char *roast_columns_table_name(enum roast_columns_table table)
{
    return table_names[table];
}

const char *roast_columns_table_text(enum roast_columns_table table)
{
    return table_texts[table];
}

int roast_columns_table_find(const char *name)
{
    for (int i = 0; i < ROAST_COLUMNS_TABLE_COUNT; i++) {
        if (strcmp(table_names[i], name) == 0)
            return i;
    }
    return -1;
}

/* ---- columns --------------------------------------------------------------------- */

int roast__columns_first(enum roast_columns_table table)
{
    int at = 0;

    while (at < ROAST_AT_COUNT && infos[at].table != table)
        at++;
    return at;
}

static size_t fixed_columns(enum roast_columns_table table)
{
    size_t count = 0;

    for (int at = 0; at < ROAST_AT_COUNT; at++)
        count += infos[at].table == table;
    return count;
}

size_t roast__columns_listed(enum roast_columns_table table)
{
    size_t ladder = table == ROAST_COLUMNS_chunks ? ROAST_ITEM_COUNT : 0;

    return fixed_columns(table) + ladder;
}

/* The key of chunk_metrics that holds an item; NULL where none does. */
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

static struct roast_data item_info(enum roast_ladder_item item)
{
    const struct roast_ladder_info *info = roast_ladder_info(item);
    bool is_time = info->kind == ROAST_LADDER_SLICE || info->kind == ROAST_LADDER_TIME;
    const char *key = view_key(item);
    struct roast_data data = {
        .type = is_time ? ROAST_DATA_DOUBLE : ROAST_DATA_INT64,
        .name = is_time ? items[item].in_seconds : items[item].plain,
        .unit = is_time ? "s" : "",
        .text = info->text,
    };

    if (key)
        data.name = key;
    if (info->kind == ROAST_LADDER_BYTES)
        data.unit = "bytes";
    return data;
}

struct roast_data roast__columns_info(enum roast_columns_table table, size_t column)
{
    size_t fixed = fixed_columns(table);

    if (column >= fixed)
        return item_info((enum roast_ladder_item)(column - fixed));
    const struct info *info = &infos[(size_t)roast__columns_first(table) + column];
    return (struct roast_data){
        .type = info->type,
        .name = info->name,
        .unit = strcmp(info->unit, "none") == 0 ? "" : info->unit,
        .text = info->text,
    };
}
