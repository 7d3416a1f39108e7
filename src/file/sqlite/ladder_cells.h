/* SPDX-License-Identifier: BSD-3-Clause */
/* ladder_cells.h - a ladder as cells of a row, and back. */
#ifndef ROAST_FILE_SQLITE_LADDER_CELLS_H
#define ROAST_FILE_SQLITE_LADDER_CELLS_H

#include "file/sqlite/attempt_row.h"

/* Sets the items of a packed ladder. False if the cells would not give the same bytes
 * back: it has items that this version does not know, in another order, or larger than
 * cells are; then those are set that it can be read for. */
bool roast__ladder_to_cells(struct roast_attempt_row *row, struct roast_str blob);

/* Packs the items of a row; the size. */
size_t roast__ladder_of_cells(unsigned char out[ROAST_LADDER_BOUND_BYTES],
                              const struct roast_attempt_row *row);

#endif
