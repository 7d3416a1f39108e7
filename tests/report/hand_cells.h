/* SPDX-License-Identifier: BSD-3-Clause */
/* hand_cells.h - cells by hand. */
#ifndef ROAST_TESTS_REPORT_HAND_CELLS_H
#define ROAST_TESTS_REPORT_HAND_CELLS_H

#include "page_help.h"
#include "table/table.h"

static inline struct roast_cell cell_text(const char *text)
{
    return (struct roast_cell){.type = ROAST_CELL_TEXT, .text = roast_str_of(text)};
}

static inline struct roast_cell cell_count(uint64_t count)
{
    return (struct roast_cell){.type = ROAST_CELL_COUNT, .count = count};
}

static inline struct roast_cell cell_bool(bool value)
{
    return (struct roast_cell){.type = ROAST_CELL_BOOL, .count = value};
}

static inline struct roast_cell cell_number(double number)
{
    return (struct roast_cell){.type = ROAST_CELL_NUMBER, .number = number};
}

static inline struct roast_cell cell_absent(void)
{
    return (struct roast_cell){.type = ROAST_CELL_ABSENT};
}

/* The number of a column of a table; fails where there is none. */
static inline size_t column_number(enum roast_table_id id, const char *name)
{
    for (size_t i = 0; i < roast__table_listed(id); i++) {
        if (strcmp(roast__table_info(id, i).name, name) == 0)
            return i;
    }
    fail_msg("%s has no column %s", roast_table_name(id), name);
    return 0;
}

#endif
