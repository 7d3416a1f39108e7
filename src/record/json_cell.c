/* SPDX-License-Identifier: BSD-3-Clause */
/* json_cell.c - a cell as JSON has it. */
#include "roast/json_write.h"
#include "roast/view.h"

void roast_json_cell(struct roast_json *json, const struct roast_cell *cell)
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
