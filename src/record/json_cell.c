/* SPDX-License-Identifier: BSD-3-Clause */
/* json_cell.c - a cell as JSON has it.
 *
 * Lists hold plain cells in every table there is; one inside another is null, so that
 * nothing here depends on how deep a file says it goes. */
#include "roast/json_write.h"
#include "roast/view.h"

static void put_plain(struct roast_json *json, const struct roast_cell *cell)
{
    if (cell->type == ROAST_CELL_BOOL)
        roast_json_bool(json, cell->count != 0);
    else if (cell->type == ROAST_CELL_COUNT)
        roast_json_count(json, cell->count);
    else if (cell->type == ROAST_CELL_NUMBER && cell->whole)
        roast_json_integer(json, (int64_t)cell->number);
    else if (cell->type == ROAST_CELL_NUMBER)
        roast_json_number(json, cell->number);
    else if (cell->type == ROAST_CELL_TEXT)
        roast_json_text(json, cell->text);
    else
        roast_json_null(json);
}

void roast_json_cell(struct roast_json *json, const struct roast_cell *cell)
{
    if (cell->type != ROAST_CELL_LIST) {
        put_plain(json, cell);
        return;
    }
    roast_json_open(json, '[');
    for (uint64_t i = 0; i < cell->list.count; i++)
        put_plain(json, &cell->list.items[i]);
    roast_json_close(json, ']');
}
