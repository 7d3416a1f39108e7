/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_rows.h - blobs of rows, put one by one. */
#ifndef ROAST_COLLECT_MEASUREMENT_ROWS_H
#define ROAST_COLLECT_MEASUREMENT_ROWS_H

#include "base/buf.h"
#include "roast/ladder.h"

/* A blob that begins with the number of its rows, while they are put. */
struct roast_rows_blob {
    struct roast_buf bytes;
    uint64_t count;
};

void roast__rows_clear(struct roast_rows_blob *rows);
void roast__rows_branch(struct roast_rows_blob *rows, const struct roast_branch *row);
void roast__rows_endpoint(struct roast_rows_blob *rows,
                          const struct roast_endpoint *row);

/* The whole blob, borrowed until the next change; absent when out of memory. */
struct roast_str roast__rows_blob(struct roast_rows_blob *rows);

#endif
