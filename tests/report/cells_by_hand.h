/* SPDX-License-Identifier: BSD-3-Clause */
/* cells_by_hand.h - cells of each type. */
#ifndef ROAST_TESTS_REPORT_CELLS_BY_HAND_H
#define ROAST_TESTS_REPORT_CELLS_BY_HAND_H

#include "roast/view.h"

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

#endif
