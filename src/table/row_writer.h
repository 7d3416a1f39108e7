/* SPDX-License-Identifier: BSD-3-Clause */
/* row_writer.h - the inside of a roast_row_writer, and its formats. */
#ifndef ROAST_TABLE_ROW_WRITER_H
#define ROAST_TABLE_ROW_WRITER_H

#include "roast/row_writer.h"
#include "table/grid.h"

struct roast_row_writer {
    struct roast_row_writer_options options;
    struct roast_grid grid;            /* of text */
    struct roast_grid_column *columns; /* owned, with copies of the names behind them */
    unsigned char *kinds;              /* owned; what each column has held so far */
    struct roast_buf out;
    struct roast_buf printable; /* of a CSV cell */
    bool aligned;               /* the first rows are written */
    bool failed;                /* out of memory */
};

/* What a format does; NULL: nothing. */
struct roast_row_format {
    void (*begin)(roast_row_writer *writer);
    void (*put)(roast_row_writer *writer, const struct roast_cell *cells);
    void (*end)(roast_row_writer *writer);
};

#define F(NAME, name) extern const struct roast_row_format roast__rows_##name;
#include "roast/row_formats.def"
#undef F

/* Passes `out` on and empties it. */
void roast__row_writer_flush(roast_row_writer *writer);

#endif
